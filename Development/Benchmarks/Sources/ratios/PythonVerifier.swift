import Foundation
import Workloads

/// Python cryptography's verifier, which reads how often to verify.
struct PythonVerifier {
    private let process: PythonProcess

    var version: String { process.version }

    /// Nil if Python or the package is missing.
    init?(_ chain: ChainMaterial, in folder: URL) throws {
        var files: [String] = []
        for (index, der) in ([chain.root] + chain.presented).enumerated() {
            let file = folder.appending(path: "\(index).der")
            try Data(der).write(to: file)
            files.append(file.path)
        }
        let script = folder.appending(path: "cryptography_verifier.py")
        try Data(PackageResources.cryptography_verifier_py).write(to: script)
        guard let process = try PythonProcess(script, files + [chain.host.name, String(chain.unixTime)]) else {
            return nil
        }
        self.process = process
    }

    var workload: Workload {
        let process = process
        return Workload("Python cryptography verifier", clock: .wall) { try process.run("\($0)") }
    }

    func end() { process.end() }
}
