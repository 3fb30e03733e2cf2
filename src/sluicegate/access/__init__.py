"""Decision points behind the Authorizer port."""
