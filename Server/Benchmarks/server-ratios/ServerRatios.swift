import Foundation

/// Measures the pin server and the programs that it is compared with, in one run, and prints a table.
@main
enum ServerRatios {
    private static let usage = """
        usage: server-ratios [--seconds N] [--program holdfast-server] [SECTION...]
          --seconds N  how long each load lasts; 5 by default
          --program    a release build of holdfast-server, which the sections "large" and "replicas" start
          --hosts N    how many hosts the section "replicas" watches; 10000 by default
          SECTION      challenges documents large watching reports replicas; all of them by default
        Needs wrk, nginx, openssl, curl and taskset; "replicas" needs PostgreSQL with pg_stat_statements.
        """

    static func main() async throws {
        if CommandLine.arguments.dropFirst().first == "flood" { return try flood(CommandLine.arguments.dropFirst(2)) }
        var settings = BenchmarkSettings()
        do {
            settings = try BenchmarkSettings(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n\(usage)\n".utf8))
            exit(2)
        }
        var report = Report()
        for section in settings.sections {
            FileHandle.standardError.write(Data("measuring: \(section.rawValue)\n".utf8))
            let folder = FileManager.default.temporaryDirectory.appending(path: "server-ratios-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            switch section {
            case .challenges:
                try await Cores.apart(in: folder) { try await ChallengeSection(settings, folder).measure(&report) }
            case .documents:
                try await Cores.apart(in: folder) { try await DocumentSection(settings, folder).measure(&report) }
            case .large: try await LargeSection(settings, folder).measure(&report)
            case .watching: try await WatchSection(settings, folder).measure(&report)
            case .replicas: try await ReplicaSection(settings, folder).measure(&report)
            case .reports:
                try await Cores.apart(in: folder) { try await ReportSection(settings, folder).measure(&report) }
            }
        }
        print(report.markdown)
        print("Targets missed: \(report.missed).")
        exit(report.missed == 0 ? 0 : 1)
    }
}

extension ServerRatios {
    /// The part that ``LoadGenerator/flood(_:to:rate:)`` starts.
    fileprivate static func flood(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 4, let port = UInt16(words[0]), let rate = Double(words[1]),
            let seconds = Double(words[2])
        else { throw BenchmarkError("flood PORT RATE SECONDS FILE") }
        let body = Array(try Data(contentsOf: URL(filePath: words[3])))
        let result = Flood(port: port, rate: rate, seconds: seconds, body: body).run()
        print(result.offered, result.sent)
    }
}

/// The sections to measure, and their settings.
struct BenchmarkSettings {
    enum Section: String, CaseIterable {
        case challenges, documents, large, watching, reports, replicas
    }

    private(set) var seconds = 5
    private(set) var program: URL?
    private(set) var hosts = 10_000
    private(set) var sections = Section.allCases

    init() {}

    init(_ arguments: [String]) throws {
        var named: [Section] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--seconds":
                guard let text = rest.popFirst(), let number = Int(text), (1...600).contains(number) else {
                    throw BenchmarkError("--seconds takes a number from 1 to 600")
                }
                seconds = number
            case "--hosts":
                guard let text = rest.popFirst(), let number = Int(text), (100...100_000).contains(number) else {
                    throw BenchmarkError("--hosts takes a number from 100 to 100000")
                }
                hosts = number
            case "--program":
                guard let path = rest.popFirst() else { throw BenchmarkError("--program takes a path") }
                program = URL(filePath: path)
            default:
                guard let section = Section(rawValue: argument) else {
                    throw BenchmarkError("there is no section \(argument)")
                }
                named.append(section)
            }
        }
        if !named.isEmpty { sections = named }
    }
}

/// The reason why a measurement failed.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
