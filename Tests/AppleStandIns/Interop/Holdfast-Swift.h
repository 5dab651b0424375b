// Swift's classes of Sources/Holdfast/Apple that façades inherit from; on Apple's systems they are in the header of this name.
#if __has_feature(modules)
@import Foundation;
#else
#import <Foundation/Foundation.h>
#endif

@interface PinnedSessionDelegate : NSObject <NSURLSessionDelegate>
@end
