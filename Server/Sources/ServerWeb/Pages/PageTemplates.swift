import Mustache
import NIOCore
import ServerFoundation

/// The templates and the style sheet, read once.
struct PageTemplates: Sendable {
    /// The pages.
    enum Page: String, Sendable, Hashable, CaseIterable {
        case overview, app, host, change, reports, people, audit, problem, form
        case signIn = "signin"
        case invitation
    }

    /// The style sheet. Its address contains its digest, so caches may keep it permanently.
    let style: ByteBuffer
    /// The path of the style sheet.
    let stylePath: String
    /// The entity tag of the style sheet.
    let styleTag: String

    private let library: MustacheLibrary

    /// The texts of all templates, by the names under which other templates include them.
    static var texts: [String: String] {
        let bytes: [String: [UInt8]] = [
            "head": PackageResources.head_mustache, "foot": PackageResources.foot_mustache,
            "approvers": PackageResources.approvers_mustache, "overview": PackageResources.overview_mustache,
            "app": PackageResources.app_mustache, "host": PackageResources.host_mustache,
            "change": PackageResources.change_mustache, "reports": PackageResources.reports_mustache,
            "audit": PackageResources.audit_mustache, "problem": PackageResources.problem_mustache,
            "people": PackageResources.people_mustache, "signin": PackageResources.signin_mustache,
            "invitation": PackageResources.invitation_mustache, "form": PackageResources.form_mustache,
        ]
        return bytes.mapValues { String(decoding: $0, as: UTF8.self) }
    }

    /// Values are escaped already (``PageValue/markup``). Without this pragma a template would escape them a second
    /// time, which is ugly but safe.
    private static let pragma = "{{% CONTENT_TYPE:TEXT}}"

    /// Reads the templates.
    /// - Throws: ``ServerError`` `malformed` if a template cannot be parsed, which happens only in a wrong build.
    init() throws(ServerError) {
        var library = MustacheLibrary()
        for (name, text) in Self.texts {
            do {
                library.register(try MustacheTemplate(string: Self.pragma + text), named: name)
            } catch {
                throw ServerError(.malformed, of: "template \(name)", expected: "a template", found: "another text")
            }
        }
        self.library = library
        let digest = Digest(of: PackageResources.style_css)
        style = ByteBuffer(bytes: PackageResources.style_css)
        stylePath = "/style-\("\(digest)".prefix(16)).css"
        styleTag = "\"\(digest)\""
    }

    /// Writes a page.
    /// - Returns: the HTML; empty if the template is missing.
    func html(_ page: Page, _ value: PageValue) -> String {
        library.render(value.markup, withTemplate: page.rawValue) ?? ""
    }
}
