public import CoreMetrics
public import Holdfast

/// Counts decisions and updates with swift-metrics, by the code of their failure.
///
/// ```swift
/// let metrics = TrustMetrics()
/// metrics.count(manager)
/// metrics.count(store)
/// ```
/// | counter | dimensions |
/// |---|---|
/// | `holdfast_decisions_total` | `outcome`: `trusted`, `rejected`, or `noted` for each notice of a decision; `code`: a `TrustFailure.Code`, or `none` |
/// | `holdfast_store_updates_total` | `store`: its name; `outcome`: `done` or `failed`; `code`: a `StoreError.Code`, or `none` |
///
/// Every dimension has only a few values, whatever peers do: no host and no text from a certificate is a value.
public struct TrustMetrics: Sendable {
    private struct Key: Hashable {
        let label: String
        let store: String
        let outcome: String
        let code: String
    }

    private let factory: any MetricsFactory
    private let counters = Lock<[Key: Counter]>([:])

    /// Makes an object that creates counters when they are first needed. It may be used from any thread; copies share
    /// their counters.
    /// - Parameter factory: creates the counters; by default the factory that the application has bootstrapped.
    public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    // MARK: Watching

    /// Counts every decision of a manager's policies from now on.
    @discardableResult
    public func count(_ manager: TrustManager) -> ObserverToken { manager.addObserver { record($0) } }

    /// Counts every update of a store from now on. All lists of a `RevocationStore` share the counters.
    /// - Parameters:
    ///   - store: the store whose updates are counted.
    ///   - name: the value of the dimension `store`, which distinguishes this store from others; nil for its own name.
    @discardableResult
    public func count(_ store: any UpdatingStore, named name: String? = nil) -> ObserverToken {
        store.addObserver { event in
            if let report = event.report { record(report, of: name ?? event.store) }
        }
    }

    // MARK: Counting

    /// Counts a decision, for code that makes decisions without a manager.
    public func record(_ decision: TrustDecision) {
        let failure = decision.failure
        increment("holdfast_decisions_total", outcome: failure == nil ? "trusted" : "rejected", failure?.code.rawValue)
        for notice in decision.notices {
            increment("holdfast_decisions_total", outcome: "noted", notice.code.rawValue)
        }
    }

    /// Counts an update, for stores of other kinds.
    /// - Parameters:
    ///   - report: the outcome of the update.
    ///   - store: the value of the dimension `store`. Each name is a separate time series, so use few.
    public func record(_ report: StoreUpdateReport, of store: String) {
        increment(
            "holdfast_store_updates_total", store: store, outcome: report.error == nil ? "done" : "failed",
            report.error?.code.rawValue)
    }

    private func increment(_ label: String, store: String = "", outcome: String, _ code: String?) {
        let key = Key(label: label, store: store, outcome: outcome, code: code ?? "none")
        counter(key).increment()
    }

    private func counter(_ key: Key) -> Counter {
        if let counter = counters.withLock({ $0[key] }) { return counter }
        var dimensions = [("outcome", key.outcome), ("code", key.code)]
        if !key.store.isEmpty { dimensions.insert(("store", key.store), at: 0) }
        // The factory belongs to the application, so no lock is held while it creates the counter. If two threads
        // create one, both count the same values.
        let counter = Counter(label: key.label, dimensions: dimensions, factory: factory)
        return counters.withLock { counters in
            if let first = counters[key] { return first }
            counters[key] = counter
            return counter
        }
    }
}
