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

    @Test("It declares diagnostic data for the app's functionality, not linked, not for tracking, and nothing else")
    func manifest() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let file = root.appending(path: "Sources/HoldfastReports/Apple/PrivacyInfo.xcprivacy")
        let manifest = try PropertyListDecoder().decode(Manifest.self, from: Data(contentsOf: file))
        #expect(!manifest.NSPrivacyTracking && manifest.NSPrivacyTrackingDomains.isEmpty)
        #expect(manifest.NSPrivacyAccessedAPITypes.isEmpty && manifest.NSPrivacyCollectedDataTypes.count == 1)
        let data = try #require(manifest.NSPrivacyCollectedDataTypes.first)
        #expect(data.NSPrivacyCollectedDataType == "NSPrivacyCollectedDataTypeOtherDiagnosticData")
        #expect(!data.NSPrivacyCollectedDataTypeLinked && !data.NSPrivacyCollectedDataTypeTracking)
        #expect(data.NSPrivacyCollectedDataTypePurposes == ["NSPrivacyCollectedDataTypePurposeAppFunctionality"])
    }
}
