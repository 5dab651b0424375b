import Foundation
import HoldfastTesting
import NIOHTTP1
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerWeb

/// `openapi.yaml` against the server that serves it. What each call takes and answers, `scripts/check schemathesis` compares.
@Suite("The description of the administration", .timeLimit(.minutes(5)))
struct DescriptionTests {
    /// A call as the description has it.
    private struct Operation: Hashable {
        let path: String
        let method: String
        let id: String
        let statuses: Set<Int>
        let queryFields: Set<String>
        let hasBody: Bool
    }

    /// The lines below a line of the description that begins a block, without their indentation.
    private static func block(_ title: String, in lines: [Substring]) -> [Substring] {
        guard let start = lines.firstIndex(where: { $0 == "\(title):" }) else { return [] }
        return lines[(start + 1)...].prefix { $0.hasPrefix("  ") || $0.isEmpty }.map { $0.dropFirst(2) }
    }

    /// The names at the left edge of lines, in their order.
    private static func names(in lines: [Substring]) -> [String] {
        lines.filter { $0.last == ":" && $0.first != " " && $0.first != "-" }.map { String($0.dropLast()) }
    }

    private let lines = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false)

    /// The query's fields among parameters, which are named here or by reference.
    private func queryFields(in parameters: [Substring]) -> Set<String> {
        let components = Self.block("parameters", in: Self.block("components", in: lines))
        var fields: Set<String> = []
        for (index, line) in parameters.enumerated() {
            if let name = line.split(separator: "name: ").last, line.hasPrefix("- name: "),
                parameters[(index + 1)...].first == "  in: query"
            {
                fields.insert(String(name))
            }
            guard let name = line.split(separator: "/").last?.dropLast(), line.contains("$ref") else { continue }
            let component = Self.block(String(name), in: components)
            guard component.contains("in: query"),
                let field = component.first(where: { $0.hasPrefix("name: ") })?.dropFirst("name: ".count)
            else { continue }
            fields.insert(String(field))
        }
        return fields
    }

    private var operations: [Operation] {
        let paths = Self.block("paths", in: lines)
        return Self.names(in: paths).flatMap { path in
            let block = Self.block(path, in: paths)
            let shared = queryFields(in: Self.block("parameters", in: block))
            return Self.names(in: block).filter { $0 != "parameters" }.map { method in
                let operation = Self.block(method, in: block)
                let id = operation.first { $0.hasPrefix("operationId: ") }?.dropFirst("operationId: ".count)
                let statuses = Self.names(in: Self.block("responses", in: operation))
                    .compactMap { Int($0.filter(\.isNumber)) }
                return Operation(
                    path: path, method: method.uppercased(), id: String(id ?? ""), statuses: Set(statuses),
                    queryFields: shared.union(queryFields(in: Self.block("parameters", in: operation))),
                    hasBody: operation.contains("requestBody:"))
            }
        }
    }

    @Test("It names exactly the routes of the server, each with its method, its query and whether it has a body")
    func routes() {
        let operations = operations
        #expect(operations.count == AdministrationRoute.allCases.count)
        for route in AdministrationRoute.allCases {
            let described = operations.filter { $0.id == route.rawValue }
            #expect(described.count == 1, "\(route)")
            guard let described = described.first else { continue }
            #expect(described.path == route.template && described.method == route.method.rawValue, "\(route)")
            #expect(described.queryFields == Set(route.queryFields), "\(route)")
            #expect(described.hasBody == route.hasBody, "\(route)")
            #expect(described.statuses.contains(415) == route.hasBody, "\(route)")
            var isOpen = false
            // Metrics are open to all clients only on loopback.
            if case .anybody = route.access, route != .getMetrics { isOpen = true }
            #expect(described.statuses.contains(401) != isOpen, "\(route)")
        }
    }

    @Test("It names exactly the codes that errors have")
    func codes() {
        let schemas = Self.block("schemas", in: Self.block("components", in: lines))
        let codes = Self.block("enum", in: Self.block("ErrorCode", in: schemas)).map { $0.dropFirst("- ".count) }
        #expect(codes.map(String.init) == AdministrationError.Code.allCases.map(\.rawValue))
    }

    @Test(
        "What it names is answered, every other method there is refused with those that are, and nothing is beside it")
    func answers() async throws {
        try await AdministrationSite.run { site in
            let change = try await site.world.propose().change
            let known: [(String, String)] = [
                ("{app}", "bank"), ("{host}", World.host), ("{change}", "\(change)"),
                ("{digest}", "\(Digest(of: site.world.announced.der))"), ("{purpose}", "fingerprints"),
            ]
            let paths = Dictionary(grouping: operations, by: \.path)
            for (path, operations) in paths {
                let target = known.reduce(path) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
                let allowed = Set(
                    operations.map(\.method) + (operations.contains { $0.method == "GET" } ? ["HEAD"] : []))
                for method in [
                    "GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "REPORT",
                ] {
                    let answer = try await site.call(method, target)
                    let isAllowed = allowed.contains(method)
                    // A request without a token gets the same answer.
                    #expect((answer.status == 405) == !isAllowed, "\(method) \(target): \(answer.text)")
                    guard !isAllowed else { continue }
                    let named = answer.header("Allow")?.components(separatedBy: ", ") ?? []
                    #expect(
                        Set(named) == allowed && named.count == allowed.count, "\(method) \(target): \(answer.text)")
                }
                for beside in [target + "/", target + "/x", String(target.dropLast()), target.uppercased()]
                where paths[beside] == nil {
                    let answer = try await site.call("GET", beside)
                    // Each announcement has its own address below its host's, which accepts only DELETE.
                    let isAnnouncement = beside.split(separator: "/").dropLast().last == "next"
                    #expect(
                        [400, 404].contains(answer.status) || isAnnouncement && answer.status == 405,
                        "\(beside): \(answer.text)")
                    #expect(answer.json["code"] is String, "\(beside): \(answer.text)")
                }
            }
            let served = try await site.call("GET", "/openapi.yaml", token: nil)
            #expect(Array(served.body.utf8) == PackageResources.openapi_yaml)
        }
    }
}
