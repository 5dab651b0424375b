enum PlaceholderHoldfastNIO {}
