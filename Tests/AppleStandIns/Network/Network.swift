public import Dispatch
public import Foundation
public import Security

public enum NWProtocolTLS {
    public final class Options {
        public let securityProtocolOptions: sec_protocol_options_t
        public init() { securityProtocolOptions = StandInOptions() }
    }
}

public enum NWProtocolTCP {
    public final class Options {
        public init() {}
    }
}

public final class NWParameters {
    /// The TLS options, which the tests inspect.
    public let tls: NWProtocolTLS.Options?

    public init(tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options = .init()) { self.tls = tls }
}

public enum NWEndpoint {
    public struct Host: Sendable {
        let name: String
        public init(_ string: String) { name = string }
    }

    public struct Port: RawRepresentable, Sendable {
        public let rawValue: UInt16
        public init?(rawValue: UInt16) { self.rawValue = rawValue }
    }
}

public enum NWError: Error {
    case posix(POSIXErrorCode)
    case dns(Int32)
    case tls(OSStatus)
}

/// Only its types: no connection is ever made.
public final class NWConnection: Sendable {
    public enum State: Sendable {
        case setup
        case waiting(NWError)
        case preparing
        case ready
        case failed(NWError)
        case cancelled
    }

    public final class ContentContext: Sendable {
        public static let defaultMessage = ContentContext()
    }

    public enum SendCompletion {
        case contentProcessed(@Sendable (NWError?) -> Void)
        case idempotent
    }

    public init(host: NWEndpoint.Host, port: NWEndpoint.Port, using: NWParameters) {}

    public var stateUpdateHandler: (@Sendable (State) -> Void)? {
        get { nil }
        set {}
    }

    public func start(queue: DispatchQueue) {}
    public func cancel() {}

    public func send(
        content: (some DataProtocol)?, contentContext: ContentContext = .defaultMessage, isComplete: Bool = true,
        completion: SendCompletion
    ) {}

    public func receive(
        minimumIncompleteLength: Int, maximumLength: Int,
        completion: @escaping @Sendable (Data?, ContentContext?, Bool, NWError?) -> Void
    ) {}
}
