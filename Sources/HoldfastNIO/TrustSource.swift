public import Holdfast
public import struct Foundation.Date

/// Who judges the peers of a connection: asked anew at every handshake, and never earlier, so that what counts is the
/// policy of that moment.
///
/// A value; may be used from any thread.
public struct TrustSource: Sendable {
    private let judge: @Sendable (ServerTrust, Date) -> TrustDecision

    /// Asks a closure, which is called on the connection's event loop: it must neither block nor touch the connection.
    public init(_ evaluate: @escaping @Sendable (_ trust: ServerTrust, _ time: Date) -> TrustDecision) {
        judge = evaluate
    }

    /// Asks one policy; it must cover the host that is dialled.
    public static func policy(_ policy: any TrustPolicy) -> TrustSource {
        TrustSource { trust, time in policy.evaluate(trust, at: time) }
    }

    /// Judges a trust at a time.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision { judge(trust, time) }
}
