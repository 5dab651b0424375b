public import Foundation

// Core Foundation's types are the Swift types that they bridge to.
public typealias CFTypeRef = Any
public typealias CFAbsoluteTime = Double
public typealias CFArray = [Any]
public typealias CFData = Data
public typealias CFDate = Date
public typealias CFDictionary = [String: Any]
public typealias CFIndex = Int
public typealias CFString = String
public typealias OSStatus = Int32

/// Apple's allocators choose where memory comes from; callers pass nil.
public final class CFAllocator {}

public final class CFError: Error, LocalizedError {
    let code: CFIndex
    let text: String

    init(code: CFIndex, text: String) {
        self.code = code
        self.text = text
    }

    public var errorDescription: String? { text }
}

public func CFErrorGetCode(_ err: CFError!) -> CFIndex { err?.code ?? 0 }

public let errSecSuccess: OSStatus = 0
public let errSecParam: OSStatus = -50
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300

public struct DarwinBoolean {
    public let boolValue: Bool
    public init(_ value: Bool) { boolValue = value }
}

@available(macOS 10.3, iOS 11.3, tvOS 11.3, watchOS 4.3, *)
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    status == -25308 ? "User interaction is not allowed." : nil
}
