// Every name of GCXTrustPolicy's older generation in use.
@import HoldfastCompatibility;

static NSString *const Host = @"https://www.example.com";

@interface OlderUsage : NSObject <NSURLSessionDelegate>
@end

@implementation OlderUsage

// As docs/apps.md has it.
- (GCXPinnedSessionDelegate *)setUp {
    GCXComposePolicy *composer =
        [[GCXComposePolicy alloc] initWithValidation:GCXValidationTypePinPublicKey forHost:@"www.example.com"];
    [[GCXTrustManager shared] addWithPolicy:[composer create]];
    GCXPinnedSessionDelegate *delegate =
        [[GCXPinnedSessionDelegate alloc] initWithManager:[GCXTrustManager shared]];
    NSString *reason = [delegate failureDescriptionForHost:@"www.example.com"];
    return reason == nil ? delegate : nil;
}

- (void)everyType {
    GCXValidationType types[] = {
        GCXValidationTypeDisabled,       GCXValidationTypeStandard,
        GCXValidationTypeCustom,         GCXValidationTypePinCertificate,
        GCXValidationTypePinPublicKey,   GCXValidationTypePinCertificateOnline,
        GCXValidationTypePinPublicKeyOnline,
    };
    _Static_assert(GCXValidationTypeDisabled == 0, "the numbers are part of the interface");
    _Static_assert(GCXValidationTypePinPublicKeyOnline == 6, "the numbers are part of the interface");
    TrustPolicyType older = types[1];
    GCXComposePolicy *composer = [[GCXComposePolicy alloc] initWithValidation:older forHost:Host];
    id<GCXTrustPolicy> policy = [composer create];
    NSString *name = policy.hostName;
    NSString *given = composer.hostName;
    composer.hostName = name;
    composer.validationType = GCXValidationTypeCustom;
    older = composer.validationType;
    (void)given;
    (void)older;
}

- (void)everyProperty {
    GCXComposePolicy *composer = [[GCXComposePolicy alloc] initWithValidation:GCXValidationTypePinPublicKeyOnline
                                                                      forHost:[NSURL URLWithString:Host].host];
    composer.validateHostName = YES;
    composer.certificateBundle = [NSBundle bundleForClass:[self class]];
    composer.certificateBundle = NSBundle.mainBundle;
    composer.allowInsecureServerTrust = NO;
    composer.trustServer = [NSURL URLWithString:@"https://pins.example.com/example.json.signed"];
    composer.trustServerCertificate = [NSData dataWithContentsOfFile:@"signer.cer"];
    composer.customer = @"example";
    composer.allowsLegacyDigests = YES;
    composer.customValidation = ^BOOL(SecTrustRef _Nullable trust) {
        return trust != nil;
    };
    [[GCXTrustManager shared] addWithPolicy:[composer create]];
}

- (BOOL)managers:(SecTrustRef)trust {
    id<GCXTrustPolicy> policy =
        [[[GCXComposePolicy alloc] initWithValidation:GCXValidationTypeStandard forHost:Host] create];
    GCXTrustManager *own = [[GCXTrustManager alloc] initWithTrustPolicies:@[ policy ]];
    own = [[GCXTrustManager alloc] initWith:@[ policy ]];
    [own addWithPolicy:policy];
    [own addWithPolicies:@[ policy ]];
    [[GCXTrustManager sharedInstance] addWithPolicies:@[ policy, policy ]];
    id<GCXTrustPolicy> found = [own policyForHost:@"www.example.com"];
    NSArray<NSString *> *hosts = [own allHostNames];
    NSArray<id<GCXTrustPolicy>> *policies = [own allPolicies];
    if (hosts.count == policies.count) [own removePolicyFor:hosts[0]];
    BOOL withoutTrust = [found validateWith:nil];
    return [found validateWith:trust] && !withoutTrust;
}

// The delegate as it is published.
- (void)URLSession:(NSURLSession *)session
    didReceiveChallenge:(NSURLAuthenticationChallenge *)challenge
      completionHandler:(void (^)(NSURLSessionAuthChallengeDisposition, NSURLCredential *_Nullable))completionHandler {
    SecTrustRef trust = challenge.protectionSpace.serverTrust;
    id<GCXTrustPolicy> policy =
        [[GCXTrustManager sharedInstance] policyForHost:challenge.protectionSpace.host];
    if (trust != nil && [policy validateWith:trust]) {
        completionHandler(NSURLSessionAuthChallengeUseCredential, [NSURLCredential credentialForTrust:trust]);
    } else {
        completionHandler(NSURLSessionAuthChallengeCancelAuthenticationChallenge, nil);
    }
}

@end
