import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// Repositories made with python-tuf, honest ones and others, shown to `holdfastctl tuf` and to python-tuf's own client.
@Suite(
    "holdfastctl tuf beside python-tuf", .needs(.pythonTUF))
struct TUFSimulatorTests {
    @Test("It makes of every repository what the specification says, with the same requests", .timeLimit(.minutes(15)))
    func holdfast() async throws {
        let program = try #require(CommandRun.program)
        try await simulate([program.path, "tuf"])
    }

    @Test("python-tuf makes the same of them, so the simulator asks for nothing of its own", .timeLimit(.minutes(15)))
    func python() async throws {
        let python = try #require(PythonTUF.program)
        try await simulate([python.path, PythonTUF.script("python_client.py").path])
    }

    private func simulate(_ client: [String]) async throws {
        let python = try #require(PythonTUF.program)
        let run = try await CommandRun.run(
            python, ["-B", PythonTUF.script("simulator.py").path] + client, limit: .seconds(500))
        #expect(run.status == 0)
        #expect(run.lines.filter { !$0.hasPrefix("ok ") }.isEmpty, "\(run.output) \(run.errors)")
        #expect(run.lines.count >= 43)
    }
}
