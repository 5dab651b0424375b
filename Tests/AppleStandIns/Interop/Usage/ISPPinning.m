// Every name of ISPCertificatePinning in use.
@import HoldfastCompatibility;

/// In the place of inheritance, which Swift's classes do not allow: a delegate that has one and passes challenges on.
@interface ISPForwarding : NSObject <NSURLSessionDelegate>
@property (nonatomic) ISPPinnedNSURLSessionDelegate *pinned;
@end

@implementation ISPForwarding
- (void)URLSession:(NSURLSession *)session
    didReceiveChallenge:(NSURLAuthenticationChallenge *)challenge
      completionHandler:(void (^)(NSURLSessionAuthChallengeDisposition, NSURLCredential *_Nullable))completionHandler {
    [self.pinned URLSession:session didReceiveChallenge:challenge completionHandler:completionHandler];
}
@end

@interface ISPUsage : NSObject <NSURLSessionDelegate>
@end

@implementation ISPUsage

- (BOOL)setUp {
    NSData *certificate = [NSData dataWithContentsOfFile:@"www.example.com.der"];
    NSDictionary<NSString *, NSArray<NSData *> *> *domains = @{@"www.example.com" : @[ certificate ]};
    [ISPCertificatePinning setupSSLPinsUsingDictionnary:domains];
    return [ISPCertificatePinning setupSSLPinsUsingDictionnary:domains] == YES
        && [ISPCertificatePinning setupSSLPinsUsingDictionnary:nil] == NO;
}

- (void)URLSession:(NSURLSession *)session
    didReceiveChallenge:(NSURLAuthenticationChallenge *)challenge
      completionHandler:(void (^)(NSURLSessionAuthChallengeDisposition, NSURLCredential *_Nullable))completionHandler {
    SecTrustRef trust = challenge.protectionSpace.serverTrust;
    NSString *domain = challenge.protectionSpace.host;
    if (trust != nil && [ISPCertificatePinning verifyPinnedCertificateForTrust:trust andDomain:domain]) {
        completionHandler(NSURLSessionAuthChallengeUseCredential, [NSURLCredential credentialForTrust:trust]);
    } else {
        completionHandler(NSURLSessionAuthChallengeCancelAuthenticationChallenge, nil);
    }
}

- (NSArray *)delegates {
    id<NSURLSessionDelegate> session = [[ISPPinnedNSURLSessionDelegate alloc] init];
    ISPPinnedNSURLConnectionDelegate *connection = [[ISPPinnedNSURLConnectionDelegate alloc] init];
    NSURLAuthenticationChallenge *challenge = nil;
    if (challenge != nil) {
        [connection connection:[NSURLConnection new] willSendRequestForAuthenticationChallenge:challenge];
    }
    return @[ session, connection ];
}

@end
