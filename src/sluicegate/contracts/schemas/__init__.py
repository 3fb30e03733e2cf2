"""Registration of one JSON Schema: judged, bundled, proven, compiled."""
