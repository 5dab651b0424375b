/// Which redirects a ``PinnedHTTPClient`` follows, and how (RFC 9110 15.4). Each target is evaluated before the client
/// connects to it. A redirect from https to http is an error, and credentials are dropped when scheme, host or port
/// changes.
public struct RedirectRules: Sendable, Hashable {
    /// The maximum number of redirects for one request; beyond that the request fails with AsyncHTTPClient's
    /// `redirectLimitReached`.
    public var limit = 5
    /// Whether a request may reach the same URL twice; otherwise it fails with `redirectCycleDetected`.
    public var allowsCycles = false
    /// Whether a POST stays a POST, with its body, after status 301; otherwise it becomes a GET.
    public var keepsMethodOn301 = false
    /// Whether a POST stays a POST, with its body, after status 302; otherwise it becomes a GET.
    public var keepsMethodOn302 = false
    /// Whether a body is sent again if the redirect requires it, as statuses 307 and 308 do. Allow it only if every
    /// body that the client is given can be read more than once; otherwise such a redirect is the response.
    public var resendsBodies = false

    /// Follows up to five redirects; a body is never sent again.
    public init() {}
}
