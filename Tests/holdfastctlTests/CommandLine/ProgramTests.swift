import Foundation
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// Most tests run the command inside their own process. What they see is what the program does.
@Suite("The program holdfastctl", .timeLimit(.minutes(5)))
struct ProgramTests {
    /// Each verb, where it is done and where it is not, with exit codes of every kind. Those of trust servers, standard
    /// input, terminals and signals are always tested with the program.
    private static let lines: [(line: String, status: Int32)] = [
        ("check --chain leaf.pem --host www.example.com --ca root.pem --brief", 0),
        ("check --chain leaf.pem --host www.example.com --ca root.pem --brief --watch 200d", 4),
        ("check --chain next.pem --host www.example.com --ca root.pem --brief --pins bank.json", 1),
        ("pin leaf.pem next.pem --format okhttp --host www.example.com", 0),
        ("pins add bank.json www.example.com next.pem --state backup -o new.json", 0),
        ("pins remove bank.json www.example.com leaf.pem", 1),
        ("pins retire bank.json www.example.com leaf.pem", 0),
        ("pins promote bank.json www.example.com leaf.pem", 1),
        ("pins set bank.json --app com.example.bank", 0), ("pins diff bank.json bank.json", 0),
        ("show bank.json", 0), ("list show pins.json", 0), ("list prune pins.json --public-key signer.pub", 0),
        ("list remove pins.json nobody.example --public-key signer.pub", 1),
        ("verify pins.json --public-key signer.pub", 0),
        ("sign next.pem --key key.pem --ca root.pem --list pins.json", 0),
        ("export bank.json --format android --force offline", 0), ("export --key key.pem", 0),
        ("export-private --key key.pem -o number", 0), ("import bank.json --from android", 1),
        ("keygen -o key.pem --no-password", 3), ("rollover --pins bank.json --connect-to 127.0.0.1:1 --ca root.pem", 3),
        ("gate www.example.com --next leaf.pem --pins bank.json --ca root.pem --connect-to 127.0.0.1:1", 3),
        ("repository init site --small --offline-key none.pem --online-key key.pem", 3),
        ("repository pins nowhere bank.json", 3), ("repository sign nowhere", 3),
        ("repository publish nowhere --key key.pem --force offline", 3),
        ("repository renew nowhere --key key.pem --offline", 3), ("repository rotate nowhere --role root", 3),
        ("repository status nowhere", 3), ("tuf --metadata-dir trusted init bank.json", 1), ("check 127.1", 2),
        ("pin --proxy=user:secret@proxy.example", 2),
    ]

    @Test("prints and writes what the command does inside a test, and exits with the same code", arguments: lines)
    func same(line: String, status: Int32) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.leaf("next.pem")
            try site.list([(SigningSite.name, "a", 30.5)])
            try site.write("signer.pub", site.publicKey)
            let made = try await site.run([
                "pin", "leaf.pem", "--format", "json", "--host", SigningSite.name, "-o", "bank.json",
            ])
            try #require(made.status == 0, "\(made.errors)")
            let manager = FileManager.default
            let files = try manager.contentsOfDirectory(atPath: site.folder.path)
            let (outside, inside) = (site.folder.appending(path: "outside"), site.folder.appending(path: "inside"))
            for folder in [outside, inside] {
                try manager.createDirectory(at: folder, withIntermediateDirectories: false)
                for file in files {
                    try manager.copyItem(at: site.folder.appending(path: file), to: folder.appending(path: file))
                }
            }
            let arguments = line.split(separator: " ").map(String.init)
            let program = try await CommandRun.holdfastctl(arguments, in: outside)
            let command = try await CommandRun.inProcess(arguments, in: inside)
            #expect(program.status == status, "\(program.output)\(program.errors)")
            #expect(command.status == status, "\(command.output)\(command.errors)")
            // Some verbs print the whole name of a folder, and how wide a usage is depends on the terminal of the tests.
            let errors = program.errors.replacing("\(outside.path)/", with: "")
            #expect(program.output.replacing("\(outside.path)/", with: "") == command.output)
            #expect(errors.split(separator: "\n").first == command.errors.split(separator: "\n").first)
            #expect(status == 2 || errors == command.errors)
            let written = try [outside, inside].map { try manager.contentsOfDirectory(atPath: $0.path).sorted() }
            #expect(written[0] == written[1])
        }
    }
}
