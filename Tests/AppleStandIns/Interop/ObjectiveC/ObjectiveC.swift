// The module that #selector asks for.

public struct Selector: Hashable {}

@objc(NSObject) public protocol NSObjectProtocol {}

extension NSObjectProtocol {
    public func responds(to selector: Selector!) -> Bool { false }
}

@objc open class NSObject: NSObjectProtocol {
    public init() {}
    open func responds(to selector: Selector!) -> Bool { false }
    open func forwardingTarget(for selector: Selector!) -> Any? { nil }
}
