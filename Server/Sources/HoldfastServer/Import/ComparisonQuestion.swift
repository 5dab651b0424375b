/// Something that both servers are asked about an app.
struct ComparisonQuestion: Sendable {
    /// What it is, for people.
    let words: String
    /// The path and the query.
    let target: String
    let headers: [(name: String, value: String)]
    /// The challenge, if it is one that is answered.
    let challenge: Challenge?
    /// Whether the public key is asked for.
    let wantsKey: Bool

    private init(
        _ words: String, _ target: String, challenge: String? = nil, language: String? = nil, wantsKey: Bool = false
    ) {
        self.words = words
        self.target = target
        var headers: [(name: String, value: String)] = []
        if let challenge { headers.append((Challenge.header, challenge)) }
        if let language { headers.append(("Accept-Language", language)) }
        self.headers = headers
        self.challenge = Challenge(challenge)
        self.wantsKey = wantsKey
    }

    /// Everything that clients ask, and what they never should.
    static func all(of app: AppName, _ content: AnsweredContent) -> [ComparisonQuestion] {
        let (path, key) = ("/app/init", "/app/init/public-key")
        // A name that an app may have, and none has.
        let stranger = "no-\(Digest(of: "\(app)".utf8))"
        var all = [
            ComparisonQuestion("a challenge of 16 octets", "\(path)?appName=\(app)", challenge: challenge(16)),
            ComparisonQuestion("a challenge of 32 octets", "\(path)?appName=\(app)", challenge: challenge(32)),
            ComparisonQuestion("the public key", "\(key)?appName=\(app)", wantsKey: true),
            ComparisonQuestion("no challenge", "\(path)?appName=\(app)"),
            ComparisonQuestion("a short challenge", "\(path)?appName=\(app)", challenge: challenge(15)),
            ComparisonQuestion("a long challenge", "\(path)?appName=\(app)", challenge: challenge(33)),
            ComparisonQuestion(
                "a challenge that is no Base64", "\(path)?appName=\(app)", challenge: "~~~~~~~~~~~~~~~~~~~~~~~~"),
            ComparisonQuestion("no name of an app", path, challenge: challenge(16)),
            ComparisonQuestion("another app", "\(path)?appName=\(stranger)", challenge: challenge(16)),
            ComparisonQuestion("the public key of another app", "\(key)?appName=\(stranger)", wantsKey: true),
            ComparisonQuestion(
                "a platform that does not exist",
                "\(path)?appName=\(app)&appVersion=1.0.0&osVersion=1.0.0&platform=SYMBIAN", challenge: challenge(16)),
        ]
        for platform in VersionRule.Platform.allCases {
            all += versions(of: app, content, platform, path)
        }
        return all
    }

    /// One of each side of every limit, on every system that has a rule and on one that has none.
    private static func versions(
        of app: AppName, _ content: AnsweredContent, _ platform: VersionRule.Platform, _ path: String
    ) -> [ComparisonQuestion] {
        let rules = content.versions.filter { $0.platform == platform }
        let systems = Set(rules.compactMap(\.majorSystemVersion)).sorted()
        let others = (systems.last ?? 0) + 1
        let limits = Set(rules.flatMap { [$0.suggested, $0.required].compactMap(\.self).map(\.description) }).sorted()
        let languages = Set(content.texts.map(\.language)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var all: [ComparisonQuestion] = []
        for system in systems + [others] {
            for version in ["0.0.0"] + limits + ["999999999.0.0"] {
                for language in languages.isEmpty ? ["en"] : languages {
                    all.append(
                        ComparisonQuestion(
                            "version \(version) on \(platform.rawValue) \(system) in \(language)",
                            "\(path)?appName=\(app)&appVersion=\(version)&osVersion=\(system).0.0&platform=\(platform.rawValue)",
                            challenge: challenge(16), language: language))
                }
            }
        }
        return all
    }

    /// Another one for each question: an answer that was stored is none.
    private static func challenge(_ count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64.encode((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
