// Every name of GCXTrustPolicy's newer generation in use.
@import HoldfastCompatibility;

/// A policy of the application's own, which a manager takes too.
@interface OwnPolicy : NSObject <GCXTrustPolicy>
@end

@implementation OwnPolicy
- (NSString *)hostName {
    return @"own.example.com";
}
- (BOOL)validateWithTrust:(SecTrustRef)trust {
    return trust != nil;
}
@end

/// One written for the older generation, which has only its method.
@interface OlderOwnPolicy : NSObject <GCXTrustPolicy>
@end

@implementation OlderOwnPolicy
- (NSString *)hostName {
    return @"older.example.com";
}
- (BOOL)validateWith:(SecTrustRef)trust {
    return trust != nil;
}
@end

@interface NewerUsage : NSObject
@end

@implementation NewerUsage

- (BOOL)use:(SecTrustRef)trust {
    GCXTrustManager *manager = [GCXTrustManager shared];
    GCXValidationSettings *settings = GCXValidationSettings.defaultSettings;
    settings.sslValidateHostName = NO;
    settings.certificateBundle = [NSBundle mainBundle];
    settings.certificatePinOnly = YES;
    settings.customValidation = ^BOOL(SecTrustRef _Nullable given) {
        return given == nil ? NO : YES;
    };
    id<GCXTrustPolicy> policy = [manager createWithType:GCXValidationTypePinPublicKey
                                               hostName:@"www.example.com"
                                               settings:settings];
    id<GCXTrustPolicy> fresh = [manager createWithType:GCXValidationTypeStandard
                                              hostName:@"*.example.com"
                                              settings:[GCXValidationSettings defaultSettings]];
    [manager addWithPolicy:policy];
    [manager addWithPolicies:@[ fresh, [OwnPolicy new] ]];

    NSDictionary<NSString *, id<GCXTrustPolicy>> *policies = manager.policies;
    NSArray<id<GCXTrustPolicy>> *all = manager.allPolicies;
    NSArray<NSString *> *names = manager.allNames;
    if (policies.count != all.count || names.count != all.count) return NO;
    NSString *first = all[0].hostName;
    if (policies[first] == nil) return NO;
    GCXSwiftPolicy *ofSwift = policy.swiftPolicy;
    if (ofSwift.swiftPolicy != ofSwift || [ofSwift.hostName length] == 0) return NO;

    id<GCXTrustPolicy> removed = [manager removePolicyWithName:@"*.example.com"];
    [manager removePolicyWithName:removed.hostName];
    return [[manager policyFor:@"www.example.com"] validateWithTrust:trust]
        && ![[manager policyFor:@"www.example.com"] validateWithTrust:nil];
}

- (BOOL)useProtocols {
    id<GCXTrustManaging> manager = [GCXTrustManager new];
    id<GCXTrustPolicy> policy = [manager createWithType:GCXValidationTypePinCertificate
                                               hostName:@"*.example.com"
                                               settings:nil];
    manager.policies = @{@"*.example.com" : policy, @"older.example.com" : [OlderOwnPolicy new]};
    id<GCXValidationCustomizable> settings = [GCXValidationSettings defaultSettings];
    settings.certificatePinOnly = NO;
    settings.sslValidateHostName = YES;
    settings.certificateBundle = NSBundle.mainBundle;
    settings.customValidation = nil;
    [manager addWithPolicy:policy];
    [manager addWithPolicies:manager.allPolicies];
    return [manager removePolicyWithName:@"*.example.com"] != nil && [manager policyFor:manager.allNames[0]] != nil;
}

// As docs/apps.md has it.
- (void)useTrustServer:(NSData *)certificate then:(void (^)(NSError *_Nullable))start {
    GCXValidationSettings *settings = [GCXValidationSettings defaultSettings];
    settings.trustServer = [NSURL URLWithString:@"https://pins.example.com/example.json.signed"];
    settings.trustServerCertificate = certificate;
    settings.customer = @"example";
    settings.allowsLegacyDigests = NO;
    id<GCXTrustPolicy> policy = [[GCXTrustManager shared] createWithType:GCXValidationTypePinPublicKeyOnline
                                                                hostName:@"www.example.com"
                                                                settings:settings];
    [[GCXTrustManager shared] addWithPolicy:policy];
    [[GCXTrustManager shared] prepareWithCompletionHandler:^(NSError *_Nullable error) {
        start(error);
    }];
    [policy prepareWithCompletionHandler:start];
}

- (GCXPinnedSessionDelegate *)delegate {
    GCXPinnedSessionDelegate *delegate = [[GCXPinnedSessionDelegate alloc] initWithManager:[[GCXTrustManager alloc] init]];
    id<NSURLSessionDelegate> any = delegate;
    return [delegate failureDescriptionForHost:@"www.example.com"] == nil && any != nil ? delegate : nil;
}

@end
