#if !Services
#error("This module needs traits: [\"Services\"] in the dependency on Holdfast, or --traits Services in a clone")
#endif
