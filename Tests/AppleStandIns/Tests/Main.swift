import Testing

@main
struct Main {
    static func main() async {
        AppleFixture.installSystem()
        await Testing.__swiftPMEntryPoint() as Never
    }
}
