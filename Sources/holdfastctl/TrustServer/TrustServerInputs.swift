import Holdfast
import HoldfastProbe
import HoldfastPublishing
import HoldfastSigning

/// The input of a round in addition to its memory. Each part may fail by itself: an unreadable file must not keep the
/// document from being signed again, because clients refuse every host once the document is a day old.
struct TrustServerInputs: Sendable {
    /// The signing key. A round is impossible without it.
    let key: TrustServerKey
    /// The list of hosts.
    let hosts: Result<[DialedHost], CommandFailure>
    /// The backups.
    let backups: Result<TrustServerBackups, CommandFailure>
    /// The information about clients.
    let clients: Result<RoundClients, CommandFailure>
    /// The probe that connects to the hosts, with the authorities and the client's certificate.
    let probe: Result<HostProbe, CommandFailure>
    /// The inputs that could not be read again, and the consequences.
    let complaints: [String]

    /// Reads all inputs.
    /// - Parameter before: the previous inputs. They are used for anything that cannot be read now.
    /// - Throws: if the key cannot be read.
    init(
        before: TrustServerInputs? = nil, key: () throws(CommandFailure) -> TrustServerKey,
        hosts: () throws(CommandFailure) -> [DialedHost], backups: () throws(CommandFailure) -> TrustServerBackups,
        clients: () throws(CommandFailure) -> RoundClients,
        probe: () async throws(CommandFailure) -> HostProbe
    ) async throws(CommandFailure) {
        var complaints: [String] = []
        func again<Value>(
            _ now: Result<Value, CommandFailure>, _ before: Result<Value, CommandFailure>?
        ) -> Result<Value, CommandFailure> {
            guard case .failure(let error) = now, case .success? = before, let before else { return now }
            let end = error.message.hasSuffix(".") ? "" : "."
            complaints.append("\(error.message)\(end) What was read before remains in use.")
            return before
        }
        self.hosts = again(Self.result(hosts), before?.hosts)
        self.backups = again(Self.result(backups), before?.backups)
        self.clients = again(Self.result(clients), before?.clients)
        let made: Result<HostProbe, CommandFailure>
        do throws(CommandFailure) {
            made = .success(try await probe())
        } catch {
            made = .failure(error)
        }
        self.probe = again(made, before?.probe)
        self.key = try again(Self.result(key), before.map { .success($0.key) }).get()
        self.complaints = complaints
    }

    private static func result<Value>(
        _ read: () throws(CommandFailure) -> Value
    ) -> Result<Value, CommandFailure> {
        do throws(CommandFailure) {
            return .success(try read())
        } catch {
            return .failure(error)
        }
    }
}
