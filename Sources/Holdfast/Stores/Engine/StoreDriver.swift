import struct Foundation.Date

/// The common interface of stores: one ``DocumentStore``, or a ``RevocationStore`` with many.
protocol StoreDriver: AnyObject, Sendable {
    var name: String { get }
    var clock: any WallClock { get }
    var currentState: StoreState { get }
    var trustedTime: Date { get }
    var revision: UInt64 { get }
    var nextUpdate: Date { get }
    var lastUpdate: StoreUpdateReport? { get }
    var storageError: StoreError? { get }
    var observers: StoreObservers { get }
    func update(mode: StoreUpdateMode) async throws(StoreError) -> StoreUpdateReport
    func run(sleepingOn sleeper: some Clock<Duration>) async throws(StoreError)
    func reset()
    func prepare() async throws

    // Only stores that know pins implement these two.
    var needsPreparation: Bool { get }
    func tell(_ decision: TrustDecision)
}

extension StoreDriver {
    var needsPreparation: Bool { false }

    func tell(_ decision: TrustDecision) {}
}
