enum PlaceholderHoldfastNIOTesting {}
