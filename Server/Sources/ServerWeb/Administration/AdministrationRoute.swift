import NIOHTTP1
import ServerApprovals

/// The calls, each with its method, its path, and the scope that its token needs. The names are the `operationId`s of
/// `openapi.yaml`; a test compares both.
enum AdministrationRoute: String, Sendable, Hashable, CaseIterable {
    case getLive, getReady, getWritable, getMetrics, getDescription
    case listApps, getStatus, listHosts, getHost, setHost, announceNext, withdrawNext, withdrawAnnouncement, askGate
    case reportSightings
    case getReports, switchReports
    case getDrafts, handInDrafts, prepareDrafts, rotateKeys, publishRoot
    case listKeys, replaceKey
    case listChanges, propose, getChange, getContent, getOutlook, askGates, approve, reject, publish
    case listDocuments, getDocument, listApprovers, readAudit

    /// The permission that a call requires.
    enum Access: Sendable {
        /// No token, unless `/metrics` is hidden.
        case anybody
        /// A token with this scope, for all apps or for the app of the call.
        case holder(TokenGrant.Scope)
        /// A token for the host; ``AdministrationRoute/askGate`` checks it.
        case gate
    }

    var method: HTTPMethod {
        switch self {
        case .announceNext, .setHost, .switchReports: .PUT
        case .withdrawNext, .withdrawAnnouncement: .DELETE
        case .propose, .approve, .reject, .publish, .reportSightings: .POST
        case .handInDrafts, .prepareDrafts, .rotateKeys, .publishRoot, .replaceKey: .POST
        default: .GET
        }
    }

    /// The path, with the names of its parameters in braces.
    var template: String {
        switch self {
        case .getLive: "/health/live"
        case .getReady: "/health/ready"
        case .getWritable: "/health/writable"
        case .getMetrics: "/metrics"
        case .getDescription: "/openapi.yaml"
        case .listApps: "/v1/apps"
        case .getStatus: "/v1/apps/{app}/status"
        case .listHosts: "/v1/apps/{app}/hosts"
        case .getHost, .setHost: "/v1/apps/{app}/hosts/{host}"
        case .announceNext, .withdrawNext: "/v1/apps/{app}/hosts/{host}/next"
        case .withdrawAnnouncement: "/v1/apps/{app}/hosts/{host}/next/{digest}"
        case .reportSightings: "/v1/apps/{app}/sightings"
        case .getReports, .switchReports: "/v1/apps/{app}/reports"
        case .askGate: "/v1/apps/{app}/hosts/{host}/next/{digest}/ready"
        case .getDrafts, .handInDrafts: "/v1/apps/{app}/repository/drafts"
        case .rotateKeys: "/v1/apps/{app}/repository/rotate"
        case .publishRoot: "/v1/apps/{app}/repository/publish"
        case .listKeys: "/v1/apps/{app}/keys"
        case .replaceKey: "/v1/apps/{app}/keys/{purpose}/replace"
        case .listChanges, .propose: "/v1/changes"
        case .getChange: "/v1/changes/{change}"
        case .getContent: "/v1/changes/{change}/content"
        case .getOutlook: "/v1/changes/{change}/outlook"
        case .askGates: "/v1/changes/{change}/gates"
        case .approve: "/v1/changes/{change}/approvals"
        case .reject: "/v1/changes/{change}/reject"
        case .publish: "/v1/changes/{change}/publish"
        case .prepareDrafts: "/v1/changes/{change}/drafts"
        case .listDocuments: "/v1/documents"
        case .getDocument: "/v1/documents/{digest}"
        case .listApprovers: "/v1/approvers"
        case .readAudit: "/v1/audit"
        }
    }

    var access: Access {
        switch self {
        case .getLive, .getReady, .getWritable, .getMetrics, .getDescription: .anybody
        case .askGate: .gate
        case .announceNext, .reportSightings, .propose, .handInDrafts, .prepareDrafts: .holder(.propose)
        case .setHost, .withdrawNext, .withdrawAnnouncement, .publish, .rotateKeys, .publishRoot, .replaceKey,
            .switchReports:
            .holder(.administer)
        default: .holder(.read)
        }
    }

    /// The query fields that the call accepts.
    var queryFields: [String] {
        switch self {
        case .getHost, .setHost, .announceNext, .withdrawNext, .withdrawAnnouncement, .askGate: ["port"]
        case .listChanges, .listDocuments: ["app"]
        case .readAudit: ["after", "limit"]
        case .getReports: ["days"]
        default: []
        }
    }

    /// Whether the call has a body, which must be JSON.
    var hasBody: Bool {
        switch self {
        case .setHost, .announceNext, .reportSightings, .propose, .approve, .reject, .handInDrafts, .replaceKey,
            .switchReports:
            true
        default: false
        }
    }

    /// The parameters of a path; nil if the path is not of this call.
    func parameters(of path: [UInt8]) -> [String: [UInt8]]? {
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let parts = template.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard segments.count == parts.count else { return nil }
        var parameters: [String: [UInt8]] = [:]
        for (segment, part) in zip(segments, parts) {
            if part.first == UInt8(ascii: "{"), !segment.isEmpty {
                parameters[String(decoding: part.dropFirst().dropLast(), as: UTF8.self)] = Array(segment)
            } else if !segment.elementsEqual(part) {
                return nil
            }
        }
        return parameters
    }
}

extension AdministrationRoute {
    /// Whether the call evaluates clients, or makes keys and signs all published documents again.
    var judges: Bool {
        switch self {
        case .getStatus, .askGate, .askGates, .reportSightings, .propose, .publish, .handInDrafts, .prepareDrafts,
            .publishRoot, .rotateKeys, .replaceKey:
            true
        default: false
        }
    }
}
