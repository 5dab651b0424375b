import PinChanges
package import ServerFoundation
package import ServerStore
import Synchronization

/// The apps that a starting server still has to read, one after another. A requested app is read next, so that clients
/// do not wait until a thousand apps are read.
package final class StartingApps: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct State {
        /// The reading order without requests, the last element first.
        var later: [AppName]
        /// The requested apps, the earliest request first.
        var asked: [AppName] = []
        /// The apps that are read or being read.
        var begun: Set<AppName> = []
        var read: [AppName: PublishedSnapshot.Contribution] = [:]
        var waiters: [AppName: [Waiter]] = [:]
        /// The requests that wait for the end of the start.
        var patient: [Waiter] = []
        /// The number of waiting requests.
        var count = 0
        var isDone = false
        /// Whether the remaining apps are no longer read.
        var isStopped = false
    }

    /// Maximum number of waiting requests. Closed connections leave theirs here.
    static let maximumWaiters = 8_192

    /// The apps with data under a name. A canary that follows a repository is also an app, so a name may have two apps.
    private let named: [AppName: [AppName]]
    /// The apps with documents at a path.
    private let owners: [String: [AppName]]
    private let state: Mutex<State>

    package init(_ ledger: Ledger) {
        let apps = ledger.appNames
        named = apps.reduce(into: [:]) { named, app in
            for name in ReleaseChannel.allCases.compactMap({ $0.name(of: app) }) {
                named[name, default: []].append(app)
            }
        }
        owners = ledger.documents.keys.reduce(into: [:]) { $0[$1.name, default: []].append($1.app) }
        state = Mutex(State(later: apps.reversed()))
    }

    // MARK: Reading

    /// The app to read next; nil if all of them are read or being read.
    package func next() -> AppName? {
        state.withLock { state in
            while !state.isStopped, let app = state.asked.isEmpty ? state.later.popLast() : state.asked.removeFirst() {
                if state.begun.insert(app).inserted { return app }
            }
            return nil
        }
    }

    /// Stores the data of an app, and resumes the requests that wait for it.
    package func finish(_ app: AppName, _ contribution: PublishedSnapshot.Contribution) {
        let waiters = state.withLock { state in
            state.read[app] = contribution
            let waiters = state.waiters.removeValue(forKey: app) ?? []
            state.count -= waiters.count
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The data of the apps that were read.
    var contributions: [AppName: PublishedSnapshot.Contribution] { state.withLock { $0.read } }

    /// Stops reading, because the server stops.
    package func stop() { state.withLock { $0.isStopped = true } }

    /// Whether reading was stopped.
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Ends the start, even if some apps were not read. ``LiveSnapshot`` has the served data now.
    package func end() {
        let waiters = state.withLock { state in
            state.isDone = true
            defer { (state.waiters, state.patient, state.count) = ([:], [], 0) }
            return state.waiters.values.flatMap(\.self) + state.patient
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: Asking

    /// The number of waiting requests.
    var waiterCount: Int { state.withLock { $0.count } }

    /// Whether no further request may wait.
    package var isFull: Bool { waiterCount >= Self.maximumWaiters }

    /// The served data under the name of an app or a canary, once they are read.
    /// - Returns: nil if the start is over.
    package func snapshot(of name: AppName) async -> PublishedSnapshot? { await snapshot(of: named[name] ?? []) }

    /// The served data at a path, once they are read.
    /// - Returns: nil if the start is over. If no app is known for the path, this waits for the end of the start.
    package func snapshot(at path: some Collection<UInt8>) async -> PublishedSnapshot? {
        let isPath = ASCIIText.isPrintable(path, 1...PublishedSnapshot.maximumPath)
        guard !isPath || owners[String(decoding: path, as: UTF8.self)] != nil else {
            // Only after all apps were read is it certain that none publishes the path.
            await everything()
            return nil
        }
        return await snapshot(of: isPath ? owners[String(decoding: path, as: UTF8.self)] ?? [] : [])
    }

    private func snapshot(of apps: [AppName]) async -> PublishedSnapshot? {
        for app in apps { await read(app) }
        let found = state.withLock { state in state.isDone ? nil : apps.compactMap { state.read[$0] } }
        return found.map { PublishedSnapshot(of: $0) }
    }

    /// Waits until the start is over.
    package func everything() async {
        await withCheckedContinuation { waiter in
            let isDone = state.withLock { state in
                guard !state.isDone else { return true }
                state.patient.append(waiter)
                state.count += 1
                return false
            }
            if isDone { waiter.resume() }
        }
    }

    private func read(_ app: AppName) async {
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state in
                guard !state.isDone, state.read[app] == nil else { return true }
                if !state.begun.contains(app), state.waiters[app] == nil { state.asked.append(app) }
                state.waiters[app, default: []].append(waiter)
                state.count += 1
                return false
            }
            if isThere { waiter.resume() }
        }
    }
}
