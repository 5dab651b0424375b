import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting

extension TestSite {
    /// Runs a verb against a server that follows a script, with the site's root as the only anchor.
    func run(
        _ verb: String, _ arguments: [String] = [], script: [ScriptedServer.Line], host: String = name,
        trustingRoot: Bool = true, connecting option: String = "--connect-to"
    ) async throws -> (CommandRun, ScriptedServer.Record) {
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            let anchor = trustingRoot ? root : try TestAuthority.root(name: "Another Root")
            try Data(anchor.certificate.pem.utf8).write(to: ca)
            let server = try await ScriptedServer.start(script, serving: leaf)
            let run = try await CommandRun.inProcess(
                [verb, host, "--ca", ca.path, option, "127.0.0.1:\(server.port)", "--timeout", "60s"] + arguments)
            await server.shutdown()
            return (run, server.record)
        }
    }

    /// Lets a server follow a script beside a folder with the site's root as `root.pem`.
    func serving(_ script: [ScriptedServer.Line], _ body: (ScriptedServer, URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try Data(root.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            let server = try await ScriptedServer.start(script, serving: leaf)
            do {
                try await body(server, folder)
            } catch {
                await server.shutdown()
                throw error
            }
            await server.shutdown()
        }
    }
}
