import Holdfast
import Testing

@testable import HoldfastServer

@Suite("What a client is told about its version")
struct VersionVerdictTests {
    private func verdict(_ version: String, system: Int64 = 17, _ rules: [VersionRule]) throws -> VersionVerdict {
        let content = try Content(
            app: AppName("bank"), hosts: [], formats: [], versions: rules,
            texts: [LocalizedText(key: "old", language: "en", text: "Old.")], end: Story.end)
        let client = InitRequest.Client(
            application: try #require(AppVersion(version.utf8)), majorSystemVersion: system, platform: .ios)
        return VersionVerdict(client, AnsweredContent(content), AcceptedLanguages("fr".utf8))
    }

    @Test("Versions compare strictly, by numbers and not by letters")
    func strictly() throws {
        let rule = try VersionRule(
            platform: .ios, suggested: AppVersion("2.10.0".utf8), required: AppVersion("2.9.0".utf8))
        #expect(try verdict("2.8.99", [rule]).update == .forced)
        #expect(try verdict("2.9.0", [rule]).update == .suggested)
        #expect(try verdict("2.9.0-beta", [rule]).update == .suggested)
        #expect(try verdict("2.10.0", [rule]).update == .notRequired)
    }

    @Test("A rule for the major version of the system beats the general one, also when it asks for less")
    func specific() throws {
        let general = try VersionRule(platform: .ios, required: AppVersion("3.0.0".utf8), messageKey: "old")
        let specific = try VersionRule(
            platform: .ios, majorSystemVersion: 12, suggested: AppVersion("2.0.0".utf8), messageKey: "none")
        let other = try VersionRule(platform: .android, required: AppVersion("9.0.0".utf8))
        #expect(try verdict("2.5.0", [general, specific, other]).update == .forced)
        #expect(try verdict("2.5.0", [general, specific, other]).message == "Old.")
        #expect(try verdict("2.5.0", system: 12, [general, specific, other]).update == .notRequired)
        #expect(try verdict("1.0.0", system: 12, [general, specific]) == VersionVerdict(.suggested, nil))
        #expect(try verdict("1.0.0", [other]).update == .notRequired)
        // No message without a reason to update.
        #expect(try verdict("3.0.0", [general]).message == nil)
    }
}

@Suite("Accept-Language")
struct AcceptedLanguagesTests {
    private func choice(_ header: String, _ languages: [String]) throws -> String? {
        let texts = try languages.map { try LocalizedText(key: "k", language: $0, text: $0) }
        return AcceptedLanguages(header.utf8).choose("k", from: texts)?.language
    }

    @Test("The most wanted language that is there, its parent, or English")
    func choices() throws {
        #expect(try choice("de-AT, en;q=0.5", ["en", "de"]) == "de")
        #expect(try choice("fr;q=0.2, es;q=0.7, it;q=0.7", ["it", "fr", "es"]) == "es")
        #expect(try choice("PT-br", ["en", "pt-BR"]) == "pt-BR")
        #expect(try choice("pt", ["en", "pt-BR"]) == "en")
        #expect(try choice("fr;q=0, *", ["fr", "en"]) == "en")
        #expect(try choice("", ["fr"]) == nil)
        #expect(try choice("fr;q=2, de;q=1.0001, zz\u{0}", ["fr", "de"]) == nil)
        #expect(try choice(String(repeating: "a,", count: 300) + "fr", ["fr"]) == nil)
    }
}
