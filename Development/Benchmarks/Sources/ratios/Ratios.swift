import Foundation
import Holdfast
import Workloads

/// Measures Holdfast and the libraries that it is compared with, in one run and in turn, and prints a Markdown table of
/// ratios, each with its target. `scripts/measure library` puts the table into docs/reference/measurements.md.
@main
struct Ratios {
    private static let sections = [
        "pins", "outlook", "validation", "refusals", "hostile", "policies", "handshakes", "requests", "stores",
        "memory", "lists", "revocation", "repositories", "caches",
    ]

    private static let usage = """
        usage: ratios [--seconds N] [SECTION...]
          SECTION      \(sections.joined(separator: " ")); all by default
          --seconds N  time for each small measurement; 3 by default

        """

    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        // The commands with which the program runs itself again.
        if arguments.count == 3, let entries = Int(arguments[1]) {
            let folder = URL(fileURLWithPath: arguments[2])
            switch arguments[0] {
            case "write-list": return try await StoredList(entries: entries, in: folder).write()
            case "read-crl": return print(try StoreMemory.measureRevocationList(entries: entries))
            case "read-list": return print(try await StoreMemory.measure(entries: entries, in: folder))
            default: break
            }
        }
        if arguments == ["list-ratio"] { return print(try await Sections.listRatio(for: .seconds(8))) }

        var seconds = 3.0
        if arguments.first == "--seconds", arguments.count > 1, let number = Double(arguments[1]), number > 0 {
            seconds = number
            arguments.removeFirst(2)
        }
        guard arguments.allSatisfy(sections.contains) else {
            FileHandle.standardError.write(Data(usage.utf8))
            exit(2)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var measured = Sections(time: .seconds(seconds), folder: folder)
        for section in arguments.isEmpty ? sections : arguments { try await measured.run(section) }
        print(measured.report.markdown)
        if !measured.versions.isEmpty { print("Beside: " + measured.versions.joined(separator: ", ") + ".") }
        print("Targets missed: \(measured.report.missed).")
    }
}

extension Sections {
    fileprivate mutating func run(_ section: String) async throws {
        switch section {
        case "pins": try await pins()
        case "outlook": try await outlook()
        case "validation": try await validation()
        case "refusals": try await refusals()
        case "hostile": try await hostile()
        case "policies": try await policies()
        case "handshakes": try await handshakes()
        case "requests": try await requests()
        case "stores": try await stores()
        case "memory": try memory()
        case "revocation": try await revocation()
        case "repositories": try await repositories()
        case "caches": try await caches()
        default: try await lists()
        }
    }
}
