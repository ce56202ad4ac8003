/** What of others is in an executable: the packages of its bundle, and the runtime below them. */
import manifest from '../../package.json' with { type: 'json' }
import {
  allowedLicence,
  type Embedded,
  embeddedIn,
  noticesOf,
  statedLicence,
  suppliedFolder,
  suppliedTexts,
} from './licences.ts'
import { bundledPackages, lockedPackage } from './packages.ts'

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
    return {
      name,
      version,
      licence: statedLicence(one),
      purl: purlOf(one),
      integrity,
      kind: 'library',
      embedded: embeddedIn(one),
      notices: noticesOf(one),
      imports: purlsOf(one.imports),
    }
  })
  const platform = runtimeComponent(runtime)
  return { components: [...libraries, platform], imports: [...purlsOf(imports), platform.purl] }
}

/** The runtime comes as a package without a licence file; the repository has what its makers state. */
function runtimeComponent(packageName: string): Component {
  const { version, integrity } = lockedPackage(packageName)
  const bun = { name: 'bun', version }
  const notices = suppliedTexts(bun)
  if (version !== manifest.devDependencies.bun || notices.length === 0)
    throw new Error(`bun ${version} has no licence text: put it into ${suppliedFolder(bun)}/`)
  return {
    ...bun,
    licence: allowedLicence(`bun ${version}`, 'MIT'),
    purl: purlOf({ name: packageName, version }),
    integrity,
    kind: 'platform',
    embedded: embeddedIn(bun),
    notices,
    imports: [],
  }
}
