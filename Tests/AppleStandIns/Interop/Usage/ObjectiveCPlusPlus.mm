// The headers in Objective-C++, which has modules only where it is told so.
#import "GCXValidationType.h"
#import "Holdfast-Swift.h"
#import "HoldfastCompatibility-Swift.h"

@interface PlusPlusUsage : NSObject <NSURLSessionDelegate>
@end

@implementation PlusPlusUsage

- (GCXPinnedSessionDelegate *)setUp {
    TrustPolicyType type = GCXValidationTypePinPublicKey;
    GCXComposePolicy *composer = [[GCXComposePolicy alloc] initWithValidation:type forHost:@"www.example.com"];
    composer.customValidation = ^BOOL(SecTrustRef _Nullable trust) {
        return trust != nullptr;
    };
    [[GCXTrustManager shared] addWithPolicy:[composer create]];
    return [[GCXPinnedSessionDelegate alloc] initWithManager:[GCXTrustManager shared]];
}

@end
