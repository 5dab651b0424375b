import FoundationNetworking
import Testing

@main
struct Main {
    static func main() async {
        AppleFixture.installSystem()
        _ = URLProtocol.registerClass(JudgedLoading.self)
        await Testing.__swiftPMEntryPoint() as Never
    }
}
