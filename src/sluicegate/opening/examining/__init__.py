"""What ``doctor`` looks at, whoever asks: engines, a folder, who decides on its calls."""
