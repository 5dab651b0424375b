// Just the part of Foundation that the façades' header and the published Objective-C samples use.
#pragma once
#include <Security/Security.h>

#if defined(__cplusplus)
typedef bool BOOL;
#else
typedef _Bool BOOL;
#endif
#define YES ((BOOL)1)
#define NO ((BOOL)0)
typedef long NSInteger;
typedef unsigned long NSUInteger;
#define nil ((void *)0)
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_ENUM(type, name) enum name : type name; enum name : type

NS_ASSUME_NONNULL_BEGIN

@class NSString, NSArray, NSDictionary;

@protocol NSObject
- (BOOL)isEqual:(nullable id)object;
- (BOOL)respondsToSelector:(SEL)aSelector;
- (BOOL)conformsToProtocol:(Protocol *)aProtocol;
@property (readonly) NSUInteger hash;
@end

@protocol NSCopying
@end

__attribute__((objc_root_class))
@interface NSObject <NSObject>
+ (instancetype)alloc;
+ (instancetype)new;
- (Class)class;
- (instancetype)init;
@end

@interface NSString : NSObject <NSCopying>
@property (readonly) NSUInteger length;
@end
@interface NSConstantString : NSString
@end
@interface NSNumber : NSObject
+ (NSNumber *)numberWithBool:(BOOL)value;
@end
@interface NSArray<ObjectType> : NSObject
@property (readonly) NSUInteger count;
+ (instancetype)arrayWithObjects:(const ObjectType _Nonnull[_Nonnull])objects count:(NSUInteger)count;
- (ObjectType)objectAtIndexedSubscript:(NSUInteger)index;
@end
@interface NSDictionary<KeyType, ObjectType> : NSObject
@property (readonly) NSUInteger count;
+ (instancetype)dictionaryWithObjects:(const ObjectType _Nonnull[_Nonnull])objects
                              forKeys:(const KeyType<NSCopying> _Nonnull[_Nonnull])keys
                                count:(NSUInteger)count;
- (nullable ObjectType)objectForKeyedSubscript:(KeyType)key;
@end
@interface NSError : NSObject
@end

@interface NSData : NSObject
+ (nullable instancetype)dataWithContentsOfFile:(NSString *)path;
@end
@interface NSURL : NSObject
+ (nullable instancetype)URLWithString:(NSString *)text;
@property (readonly, nullable) NSString *host;
@end
@interface NSBundle : NSObject
@property (class, readonly) NSBundle *mainBundle;
+ (NSBundle *)bundleForClass:(Class)aClass;
@end

@interface NSURLSession : NSObject
@end
@interface NSURLSessionTask : NSObject
@end
@interface NSURLConnection : NSObject
@end
@interface NSURLCredential : NSObject
+ (NSURLCredential *)credentialForTrust:(SecTrustRef)trust;
@end
extern NSString *const NSURLAuthenticationMethodServerTrust;
@interface NSURLProtectionSpace : NSObject
@property (readonly, copy) NSString *host;
@property (readonly, copy) NSString *authenticationMethod;
@property (readonly, nullable) SecTrustRef serverTrust;
@end
@interface NSURLAuthenticationChallenge : NSObject
@property (readonly) NSURLProtectionSpace *protectionSpace;
@end
typedef NS_ENUM(NSInteger, NSURLSessionAuthChallengeDisposition) {
    NSURLSessionAuthChallengeUseCredential = 0,
    NSURLSessionAuthChallengePerformDefaultHandling = 1,
    NSURLSessionAuthChallengeCancelAuthenticationChallenge = 2,
};
@protocol NSURLSessionDelegate <NSObject>
@optional
- (void)URLSession:(NSURLSession *)session
    didReceiveChallenge:(NSURLAuthenticationChallenge *)challenge
      completionHandler:(void (^)(NSURLSessionAuthChallengeDisposition disposition,
                                  NSURLCredential *_Nullable credential))completionHandler;
@end

NS_ASSUME_NONNULL_END
