/** Software that a package has inside its own files, so that no lock file names it. */
export interface Embedded {
  name: string
  version?: string
  purl?: string
  /** An SPDX expression. */
  license?: string
  /** What its licence is called, where no SPDX expression says the same. */
  licenseName?: string
  /** The copyright lines that it states. */
  copyright?: string[]
}

/** What you have to look up about a package, since its files do not say it. */
export interface Supplied {
  /** The version that you looked at: the build fails with any other. */
  version: string
  /** The copyright lines of a package that comes without a licence file; empty if it states none. */
  copyright?: string[]
  embedded?: Embedded[]
  /** SPDX identifiers of licences that its notices name in other words. */
  texts?: string[]
}

/** A crate under the licence that most crates have. */
const crate = (name: string, version: string, ...copyright: string[]): Embedded =>
  crateUnder('MIT OR Apache-2.0', name, version, ...copyright)

function crateUnder(license: string, name: string, version: string, ...copyright: string[]) {
  return { name, version, purl: `pkg:cargo/${name}@${version}`, license, copyright }
}

const RUST = 'Copyright (c) 2014 The Rust Project Developers'
const RUST_2015 = 'Copyright (c) 2015 The Rust Project Developers'
const GALLANT = 'Copyright (c) 2015 Andrew Gallant'
const CRICHTON = 'Copyright (c) 2014 Alex Crichton'

/** By the name of the package. The copyright lines are those of its own repository or archive. */
export const SUPPLIED: Record<string, Supplied> = {
  '@cedar-policy/cedar-wasm': {
    version: '4.13.0',
    copyright: ['Copyright Cedar Contributors'],
    // The crates that the WebAssembly module names in the paths of its sources.
    embedded: [
      crateUnder('Unlicense OR MIT', 'aho-corasick', '1.1.5', GALLANT),
      crate('arrayvec', '0.5.2', 'Copyright (c) Ulrik Sverdrup "bluss" 2015-2017'),
      crateUnder('Apache-2.0', 'cedar-policy', '4.13.0', 'Copyright Cedar Contributors'),
      crate(
        'chrono',
        '0.4.45',
        'Copyright (c) 2014--2026, Kang Seonghoon and contributors.',
        'Copyright (c) 2014, Kang Seonghoon.',
      ),
      crate('dlmalloc', '0.2.13', CRICHTON),
      crate('hashbrown', '0.17.1', "Copyright (c) 2016 Amanieu d'Antras"),
      crate('indexmap', '2.14.2', 'Copyright (c) 2016--2017'),
      crate('itertools', '0.15.0', 'Copyright (c) 2015'),
      crate('itoa', '1.0.18'),
      crate('lalrpop-util', '0.22.2', 'Copyright (c) 2015 The LALRPOP Project Developers'),
      crate('linked-hash-map', '0.5.6', RUST_2015),
      crate('logos', '0.16.1', 'Copyright (c) 2018 Maciej Hirsz <maciej.hirsz@gmail.com>'),
      crateUnder('Unlicense OR MIT', 'memchr', '2.8.3', GALLANT),
      crateUnder('Apache-2.0', 'miette', '7.6.0'),
      crateUnder('MIT', 'nonempty', '0.12.0', 'Copyright (c) 2019 Alexis Sellier'),
      crateUnder(
        'MIT',
        'pretty',
        '0.12.5',
        'Copyright (c) 2014 Jonathan Sterling and Darin Morrison',
      ),
      crate('regex', '1.13.1', RUST),
      crate('regex-automata', '0.4.18', RUST),
      crate('regex-syntax', '0.8.11', RUST),
      {
        name: 'Unicode tables of regex-syntax',
        license: 'Unicode-DFS-2016',
        copyright: ['Copyright © 1991-2018 Unicode, Inc. All rights reserved.'],
      },
      {
        name: 'rust-std',
        license: 'MIT OR Apache-2.0',
        copyright: [
          'Copyright The Rust Project Developers (see https://thanks.rust-lang.org)',
          'Copyright 2019 The Crossbeam Project Developers',
        ],
      },
      {
        name: 'Unicode tables of rust-std',
        license: 'Unicode-3.0',
        copyright: ['Copyright 1991-2024 Unicode, Inc'],
      },
      crate('rustc-literal-escaper', '0.0.8'),
      crate('semver', '1.0.28'),
      crate('serde', '1.0.229'),
      crate('serde_core', '1.0.229'),
      crate('serde_json', '1.0.151'),
      crate('smol_str', '0.3.6'),
      crateUnder('MIT', 'typed-arena', '2.0.2', 'Copyright (c) 2018 The typed-arena developers'),
      crate(
        'unicode-script',
        '0.5.8',
        'Copyright (c) 2019 Manish Goregaokar',
        'Copyright 2021 The Unicode-rs Developers',
      ),
      crate('unicode-width', '0.2.2', RUST_2015),
      crate('wasm-bindgen', '0.2.117', CRICHTON),
      crateUnder('MIT', 'zmij', '1.0.23'),
    ],
  },
  // The rest is in the statement of its makers: runtime.ts reads it.
  bun: {
    version: '1.4.5',
    copyright: [],
    embedded: [{ name: 'JavaScriptCore', licenseName: 'LGPL-2' }],
    texts: ['ICU', 'IJG', 'LGPL-2.0-only', 'LGPL-2.1-only', 'Unicode-3.0', 'libpng-2.0'],
  },
  'drizzle-orm': { version: '0.45.4', copyright: [] },
  otpauth: {
    version: '9.5.2',
    embedded: [
      {
        name: '@noble/hashes',
        version: '2.4.0',
        purl: 'pkg:npm/%40noble/hashes@2.4.0',
        license: 'MIT',
        copyright: ['Copyright (c) 2022 Paul Miller (https://paulmillr.com)'],
      },
    ],
  },
}
