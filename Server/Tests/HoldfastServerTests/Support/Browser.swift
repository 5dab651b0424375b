import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerWeb

/// Debian's Chromium, driven by Playwright.
enum Browser {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    private static let given = ProcessInfo.processInfo.environment["HOLDFAST_BROWSER_PYTHON"]
    /// Where pictures go; nil for none.
    private static let pictures = ProcessInfo.processInfo.environment["HOLDFAST_SCREENSHOTS"]

    /// The Python that `scripts/python browser` made, or the one that `HOLDFAST_BROWSER_PYTHON` names; an empty name says
    /// that this machine cannot have one.
    private static let python: URL? = {
        let package = tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let program = given.map { URL(filePath: $0) } ?? package.appending(path: ".build-browser/bin/python")
        return given != "" && FileManager.default.isExecutableFile(atPath: program.path) ? program : nil
    }()

    static let isTested =
        (python != nil && ForeignProgram.find("chromium") != nil) || (ForeignProgram.areRequired && given != "")

    /// A person's action on a page.
    struct Step: Encodable {
        let person: String
        let address: String
        /// The button to press; nil to look only.
        let press: String?
        /// The text for the field of the page, written before the press.
        let text: String?
        /// The texts for other fields by selector, written before that.
        let fill: [String: String]
        /// Which boxes to tick before, by selectors.
        let tick: [String]
        /// Whether the button is reached and pressed by the keyboard.
        let keys: Bool
        /// The values to choose before, by selector.
        let choose: [String: String]
        /// Whether the browser runs scripts.
        let script: Bool

        init(
            _ person: String, _ address: String, press: String? = nil, text: String? = nil,
            filling fill: [String: String] = [:], ticking tick: [String] = [], byKeys keys: Bool = false,
            choosing choose: [String: String] = [:], script: Bool = true
        ) {
            (self.fill, self.tick, self.keys) = (fill, tick, keys)
            (self.person, self.address, self.press, self.text) = (person, address, press, text)
            (self.choose, self.script) = (choose, script)
        }
    }

    /// The result of a step.
    struct Outcome: Decodable {
        /// The page's message about a passkey.
        let words: String
        let address: String
        /// The text of the page's `main` element.
        let main: String
        let signature: String
        let problems: [String]
    }

    private struct Pages: Encodable {
        struct Answer: Encodable {
            let address: String
            let status: UInt
            let headers: [[String]]
            let body: String
        }

        struct Opened: Encodable {
            let name: String
            let address: String
        }

        let answers: [Answer]
        let open: [Opened]
    }

    /// People do something at pages, each with a browser and an authenticator of their own.
    /// - Parameters:
    ///   - steps: in their order.
    ///   - folder: where passkeys are kept from one story to the next.
    static func story(_ steps: [Step], in folder: URL) async throws -> [Outcome] {
        guard let python else { throw CocoaError(.featureUnsupported) }
        let file = folder.appending(path: "story.json")
        try JSONEncoder().encode(steps).write(to: file)
        let script = tests.appending(path: "Python/browser_story.py").path
        let (status, output) = try await ForeignProgram.run(
            python, ["-B", script, try ForeignProgram.required("chromium").path, file.path, folder.path], in: folder,
            withErrors: false)
        try #require(status == 0)
        return try JSONDecoder().decode([Outcome].self, from: output)
    }

    /// Opens pages at three widths, light and dark.
    /// - Parameters:
    ///   - pages: their names and addresses.
    ///   - answers: what the server answers there, and at other addresses that they need.
    /// - Returns: what is wrong with them.
    static func problems(
        with pages: [(name: String, address: String)], _ answers: [(address: String, answer: ListenerAnswer)]
    ) async throws -> [String] {
        guard let python else { throw CocoaError(.featureUnsupported) }
        let chromium = try ForeignProgram.required("chromium")
        let told = Pages(
            answers: answers.map { address, answer in
                Pages.Answer(
                    address: address, status: answer.status.code, headers: answer.headers.map { [$0.name, $0.value] },
                    body: String(buffer: answer.body))
            }, open: pages.map { Pages.Opened(name: $0.name, address: $0.address) })
        return try await withFolder { folder in
            let file = folder.appending(path: "pages.json")
            try JSONEncoder().encode(told).write(to: file)
            let script = tests.appending(path: "Python/browse_pages.py").path
            let (status, output) = try await ForeignProgram.run(
                python, ["-B", script, chromium.path, file.path] + [pictures].compactMap(\.self), in: folder,
                withErrors: false)
            try #require(status == 0)
            return try JSONDecoder().decode([String].self, from: output)
        }
    }
}
