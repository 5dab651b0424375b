// Must not compile: the spellings are part of the interface, and a check that accepts others checks nothing.
@import HoldfastCompatibility;

BOOL wrongName(GCXTrustManager *manager, SecTrustRef trust) {
    return [[manager policyForHostName:@"www.example.com"] validateWith:trust];
}
