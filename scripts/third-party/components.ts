/** What of others is in an executable: the packages of its bundle, and the runtime below them. */
import { allowedLicence, identifiersIn, noticesOf, statedLicence, suppliedFor } from './licences.ts'
import { bundledPackages, lockedPackage, type Package } from './packages.ts'
import { partsIn, runtimeStatement } from './runtime.ts'
import type { Embedded } from './supplied.ts'

export interface Component {
  name: string
  version: string
  /** An SPDX expression. */
  licence: string
  /** The package and its version, as a URL: of a runtime, the package for its platform. */
  purl: string
  /** The hash of that package's archive: `sha512-` and base64. */
  integrity: string
  kind: 'library' | 'platform'
  embedded: Embedded[]
  /** Texts that go with every copy. */
  notices: string[]
  /** SPDX identifiers of licences that go with every copy and are not among these texts. */
  texts: string[]
  /** The components it imports, as package URLs. */
  imports: string[]
}

export interface Contents {
  components: Component[]
  /** The components that Gatehouse itself stands on, as package URLs. */
  imports: string[]
}

const purlOf = ({ name, version }: { name: string; version: string }): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`

/** The package of the runtime that this process is. */
export function nativeRuntime(): string {
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch
  return `@oven/bun-${process.platform}-${arch}`
}

/** Throws for a licence that is not allowed, and where there is no text of one. */
export function contentsOf(metafile: Bun.BuildMetafile, runtime = nativeRuntime()): Contents {
  const { packages, imports } = bundledPackages(metafile)
  const purls = new Map(packages.map((one) => [one.folder, purlOf(one)]))
  const purlsOf = (folders: string[]) => folders.map((folder) => purls.get(folder) ?? folder)
  const libraries = packages.map((one): Component => {
    const { name, version, integrity } = one
    const licence = statedLicence(one)
    const { embedded = [] } = suppliedFor(one)
    for (const part of embedded) allowedLicence(`${part.name} in ${name}`, part.license)
    return {
      name,
      version,
      licence,
      purl: purlOf(one),
      integrity,
      kind: 'library',
      embedded,
      notices: noticesOf(one),
      texts: textsFor(one, licence, embedded),
      imports: purlsOf(one.imports),
    }
  })
  const platform = runtimeComponent(runtime)
  return {
    components: [...onceEach(libraries), platform],
    imports: [...purlsOf(imports), platform.purl],
  }
}

/** Several packages can each have a copy of the same version of another one. */
const onceEach = (components: Component[]): Component[] => [
  ...new Map(components.map((one) => [one.purl, one])).values(),
]

/** The licences that a component has no text of itself: its own at times, and those of its parts. */
function textsFor(
  one: Pick<Package, 'name' | 'version'>,
  licence: string,
  embedded: Embedded[],
): string[] {
  const { copyright, texts = [] } = suppliedFor(one)
  const expressions = [copyright && licence, ...embedded.map(({ license }) => license)]
  return [...texts, ...expressions.flatMap((expression = '') => identifiersIn(expression))]
}

/** The runtime comes as a package without a licence file; its makers state it elsewhere. */
function runtimeComponent(packageName: string): Component {
  const { version, integrity } = lockedPackage(packageName)
  const bun = { name: 'bun', version }
  const statement = runtimeStatement(version)
  const [, stated] = /^Bun itself is (\S+)-licensed/.exec(statement) ?? []
  const licence = allowedLicence(`bun ${version}`, stated)
  const embedded = [...(suppliedFor(bun).embedded ?? []), ...partsIn(statement)]
  return {
    ...bun,
    licence,
    purl: purlOf({ name: packageName, version }),
    integrity,
    kind: 'platform',
    embedded,
    notices: [statement],
    texts: textsFor(bun, licence, embedded),
    imports: [],
  }
}
