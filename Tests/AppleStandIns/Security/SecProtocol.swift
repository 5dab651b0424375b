public import Dispatch

public protocol OS_sec_protocol_options: AnyObject {}
public protocol OS_sec_protocol_metadata: AnyObject {}
public protocol OS_sec_trust: AnyObject {}
public typealias sec_protocol_options_t = any OS_sec_protocol_options
public typealias sec_protocol_metadata_t = any OS_sec_protocol_metadata
public typealias sec_trust_t = any OS_sec_trust
public typealias sec_protocol_verify_complete_t = (Bool) -> Void
public typealias sec_protocol_verify_t = (
    sec_protocol_metadata_t, sec_trust_t, @escaping sec_protocol_verify_complete_t
) -> Void

public enum tls_protocol_version_t: UInt16 {
    case TLSv12 = 0x0303
    case TLSv13 = 0x0304
}

public final class StandInTrust: OS_sec_trust {
    let trust: SecTrust
    public init(_ trust: SecTrust) { self.trust = trust }
}

public final class StandInMetadata: OS_sec_protocol_metadata {
    public init() {}
}

/// TLS options that the tests inspect, and the handshake that they start.
public final class StandInOptions: OS_sec_protocol_options {
    public var serverName: String?
    public var minimumVersion: tls_protocol_version_t?
    public var allowsResumption = true
    public var requiresPeerAuthentication = true
    var verify: sec_protocol_verify_t?
    var queue: dispatch_queue_t?

    public init() {}

    /// Asks the verification block, on its queue, as a handshake does.
    public func handshake(_ trust: SecTrust, _ complete: @escaping (Bool) -> Void) {
        guard let verify, let queue else { return complete(false) }
        nonisolated(unsafe) let unchecked = (verify, trust, complete)
        queue.async { unsafe unchecked.0(StandInMetadata(), StandInTrust(unchecked.1), unchecked.2) }
    }
}

public typealias dispatch_queue_t = DispatchQueue

@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, *)
public func sec_trust_copy_ref(_ trust: sec_trust_t) -> Unmanaged<SecTrust> {
    unsafe Unmanaged.passRetained(
        (trust as? StandInTrust)?.trust ?? SecTrust.presented([], host: nil, systemAnchors: []))
}

@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, *)
public func sec_protocol_options_set_verify_block(
    _ options: sec_protocol_options_t, _ verify_block: @escaping sec_protocol_verify_t,
    _ verify_block_queue: dispatch_queue_t
) {
    (options as? StandInOptions)?.verify = verify_block
    (options as? StandInOptions)?.queue = verify_block_queue
}

@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, *)
public func sec_protocol_options_set_tls_server_name(
    _ options: sec_protocol_options_t, _ server_name: UnsafePointer<CChar>
) {
    (options as? StandInOptions)?.serverName = unsafe String(cString: server_name)
}

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public func sec_protocol_options_set_min_tls_protocol_version(
    _ options: sec_protocol_options_t, _ version: tls_protocol_version_t
) {
    (options as? StandInOptions)?.minimumVersion = version
}

@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, *)
public func sec_protocol_options_set_tls_resumption_enabled(
    _ options: sec_protocol_options_t, _ resumption_enabled: Bool
) {
    (options as? StandInOptions)?.allowsResumption = resumption_enabled
}

@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, *)
public func sec_protocol_options_set_peer_authentication_required(
    _ options: sec_protocol_options_t, _ peer_authentication_required: Bool
) {
    (options as? StandInOptions)?.requiresPeerAuthentication = peer_authentication_required
}
