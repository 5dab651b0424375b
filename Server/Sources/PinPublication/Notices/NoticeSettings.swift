package import Foundation
package import Holdfast
package import HoldfastProbe
package import ServerFoundation
import ServerStore

/// The targets of notices: at most one webhook and one program.
package struct NoticeSettings: Sendable {
    /// The targets, in the order of their names.
    package let targets: [any NoticeTarget]

    /// Sends no notices.
    package static let nobody = NoticeSettings(targets: [])

    package init(targets: [any NoticeTarget]) { self.targets = targets }

    /// The names of the targets: `program`, `webhook`.
    package var names: [String] { targets.map(\.name) }

    /// Reads the settings.
    /// - Parameters:
    ///   - webhook: the address of the webhook; nil for none.
    ///   - secret: the file with its secret, with mode 0600.
    ///   - anchors: a PEM file with the CAs for its certificate; nil for those of the system.
    ///   - allowed: the blocks of non-public addresses that may be contacted.
    ///   - program: the program; nil for none.
    ///   - clock: the time of each request.
    /// - Throws: ``ServerError`` `invalidValue`, `secretFile` or `file`, without the address or the secret.
    package init(
        webhook: String?, secret: URL?, anchors: URL?, allowing allowed: [AddressBlock], program: String?,
        clock: any WallClock = SystemWallClock()
    ) async throws(ServerError) {
        var targets: [any NoticeTarget] = []
        if let program { targets.append(NoticeProgram(program: try Self.executable(program))) }
        if let webhook {
            guard let secret else { throw Self.missing("webhook-secret", beside: "webhook") }
            let client = WebhookClient(
                validator: PathValidator(anchors: try await Self.anchors(anchors)),
                filter: AddressFilter(allowing: allowed), clock: clock)
            targets.append(
                Webhook(
                    address: try WebhookAddress(webhook),
                    secret: try WebhookSecret(SecretFile(secret).bytes()), client: client, clock: clock))
        } else if secret != nil || anchors != nil {
            throw Self.missing("webhook", beside: secret == nil ? "webhook-ca" : "webhook-secret")
        }
        self.targets = targets
    }

    private static func missing(_ name: String, beside other: String) -> ServerError {
        ServerError(
            .invalidValue, of: name, expected: "a value, as \(other) is given", found: "none",
            remedy: "Give both \(name) and \(other), or neither.")
    }

    /// The search path is not used, and others must not be able to replace the program: it runs as the server.
    private static func executable(_ path: String) throws(ServerError) -> ProgramCommand {
        let program = try? ProgramCommand([path], limit: NoticeProgram.limit)
        guard let program, program.doubt == nil else {
            throw ServerError(
                .invalidValue, of: "on-event",
                expected: "the whole path of a program that this user can run, and others cannot replace",
                found: program?.doubt ?? "something else")
        }
        return program
    }

    private static func anchors(_ file: URL?) async throws(ServerError) -> TrustAnchors {
        do {
            guard let file else { return try await TrustAnchors.system() }
            return try TrustAnchors(der: try PEMFile.certificates(at: file))
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError(
                .file, of: file?.path ?? "the anchors of the system", expected: "certificates of authorities in PEM",
                found: "none that can be read",
                remedy: file == nil
                    ? "Install the package ca-certificates, or give --webhook-ca."
                    : "Give a file with the certificates of the authorities that signed the webhook's certificate.")
        }
    }
}
