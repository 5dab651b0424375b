// Must not compile: the spellings are part of the interface, and a check that accepts others checks nothing.
#import "Holdfast-Swift.h"

BOOL wrongName(GCXTrustManager *manager, SecTrustRef trust) {
    return [[manager policyForHostName:@"www.example.com"] validateWith:trust];
}
