enum PlaceholderHoldfastTesting {}
