import Foundation
import Testing

@Suite("The privacy manifest of the reports")
struct PrivacyManifestTests {
    private struct Manifest: Decodable {
        struct DataType: Decodable {
            let NSPrivacyCollectedDataType: String
            let NSPrivacyCollectedDataTypeLinked: Bool
            let NSPrivacyCollectedDataTypeTracking: Bool
            let NSPrivacyCollectedDataTypePurposes: [String]
        }

        let NSPrivacyTracking: Bool
        let NSPrivacyTrackingDomains: [String]
        let NSPrivacyCollectedDataTypes: [DataType]
        let NSPrivacyAccessedAPITypes: [[String: String]]
    }

    private static var root: URL {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return root
    }

    private static func manifest(of target: String) throws -> Data {
        try Data(contentsOf: root.appending(path: "Sources/\(target)/Apple/PrivacyInfo.xcprivacy"))
    }

    private static func compliance() throws -> String {
        try String(contentsOf: root.appending(path: "docs/compliance.md"), encoding: .utf8)
    }

    /// Any value of a property list that a manifest can have.
    private indirect enum Node: Decodable {
        case flag(Bool)
        case text(String)
        case array([Node])
        case object([String: Node])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let array = try? container.decode([Node].self) {
                self = .array(array)
            } else {
                self = .object(try container.decode([String: Node].self))
            }
        }

        /// The page's text in the row of a key with this value.
        var words: String {
            switch self {
            case .flag(let flag): "`\(flag)`"
            case .text(let text): "`\(text)`"
            case .object: "an object"
            case .array(let elements):
                if elements.isEmpty {
                    "none"
                } else if case .object = elements[0] {
                    "\(elements.count) kind of data, as below"
                } else {
                    elements.map(\.words).joined(separator: ", ")
                }
            }
        }

        /// Every key in it, at any depth, with the words of its value.
        var rows: [[String]] {
            switch self {
            case .flag, .text: []
            case .array(let elements): elements.flatMap(\.rows)
            case .object(let members): members.flatMap { [["`\($0)`", $1.words]] + $1.rows }
            }
        }
    }

    @Test("The page about compliance has every field of the manifest with its value, and no other")
    func page() throws {
        let declared = try PropertyListDecoder().decode(Node.self, from: Self.manifest(of: "HoldfastReports")).rows
        let named = try Self.compliance().split(separator: "\n").filter { $0.hasPrefix("| `NSPrivacy") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty } }
        #expect(Set(declared) == Set(named))
        #expect(declared.count == named.count && named.count > 6)
    }

    @Test("What the stores are told is what the manifests declare, in the words of the stores")
    func stores() throws {
        let page = try Self.compliance()
        let manifest = try PropertyListDecoder().decode(Manifest.self, from: Self.manifest(of: "HoldfastReports"))
        let data = try #require(manifest.NSPrivacyCollectedDataTypes.first)
        func words(_ value: String, after prefix: String) throws -> String {
            try #require(value.hasPrefix(prefix), "\(value)")
            return String(value.dropFirst(prefix.count).flatMap { $0.isUppercase ? [" ", $0] : [$0] })
                .trimmingCharacters(in: .whitespaces)
        }
        let kind = try words(data.NSPrivacyCollectedDataType, after: "NSPrivacyCollectedDataType")
        let purposes = try data.NSPrivacyCollectedDataTypePurposes.map {
            try words($0, after: "NSPrivacyCollectedDataTypePurpose")
        }
        let rows = page.split(separator: "\n")
        let apple = try #require(rows.first { $0.hasPrefix("| App Store, privacy label |") })
        #expect(apple.contains("\"\(kind)\": collected, for \(purposes.joined(separator: ", ")), "))
        #expect(apple.contains("not linked to the user") == !data.NSPrivacyCollectedDataTypeLinked)
        #expect(apple.contains("not used for tracking") == !data.NSPrivacyCollectedDataTypeTracking)
        let play = try #require(rows.first { $0.hasPrefix("| Google Play, Data safety |") })
        #expect(play.contains("\"Diagnostics\": collected, not shared, for App functionality"))
        let own = try PropertyListDecoder().decode(Node.self, from: Self.manifest(of: "Holdfast")).rows
        for row in own where row[0] == "`NSPrivacyAccessedAPITypeReasons`" {
            let reason = row[1].trimmingCharacters(in: ["`"])
            #expect(page.contains("(file timestamps, \(reason))"), "\(reason)")
        }
        #expect(own.contains(["`NSPrivacyCollectedDataTypes`", "none"]) && page.contains("no collected data"))
        #expect(own.contains(["`NSPrivacyTracking`", "`false`"]) && page.contains("no tracking, "))
    }

    @Test("It declares diagnostic data for the app's functionality, not linked, not for tracking, and nothing else")
    func manifest() throws {
        let manifest = try PropertyListDecoder().decode(Manifest.self, from: Self.manifest(of: "HoldfastReports"))
        #expect(!manifest.NSPrivacyTracking && manifest.NSPrivacyTrackingDomains.isEmpty)
        #expect(manifest.NSPrivacyAccessedAPITypes.isEmpty && manifest.NSPrivacyCollectedDataTypes.count == 1)
        let data = try #require(manifest.NSPrivacyCollectedDataTypes.first)
        #expect(data.NSPrivacyCollectedDataType == "NSPrivacyCollectedDataTypeOtherDiagnosticData")
        #expect(!data.NSPrivacyCollectedDataTypeLinked && !data.NSPrivacyCollectedDataTypeTracking)
        #expect(data.NSPrivacyCollectedDataTypePurposes == ["NSPrivacyCollectedDataTypePurposeAppFunctionality"])
    }
}
