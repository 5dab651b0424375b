// Swift's classes of Sources/Holdfast/Apple that façades inherit from; on Apple's systems they are in the same header.
@import Foundation;

@interface PinnedSessionDelegate : NSObject <NSURLSessionDelegate>
@end
