"""SimGrid's platforms: hosts, routers and links in nested zones, and routes over lists of links."""
