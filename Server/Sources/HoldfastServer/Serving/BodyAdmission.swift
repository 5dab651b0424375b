import NIOHTTP1

/// What is decided about a request by its head, before its body is read.
enum BodyAdmission: Sendable {
    /// The body is read, up to so many octets. The permit is held meanwhile.
    case take(octets: Int, BodyPermit)
    /// The answer is given at once, and the body is thrown away.
    case refuse(ListenerAnswer)
}

/// Room for a body that is on its way. It is given back when nobody holds the permit anymore, also if the connection ends
/// before the body does.
final class BodyPermit: Sendable {
    private let giveBack: @Sendable () -> Void

    init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }

    deinit { giveBack() }
}

/// Looks at the head of a request, and where it comes from; nil for one that the limits of the listener are for.
typealias ListenerAdmission = @Sendable (HTTPRequestHead, SourcePrefix) -> BodyAdmission?
