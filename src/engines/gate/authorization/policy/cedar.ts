import type {
  AuthorizationAnswer,
  CheckParseAnswer,
  PolicySetTextToPartsAnswer,
  PolicyToJsonAnswer,
  StatefulAuthorizationCall,
} from '@cedar-policy/cedar-wasm/web'
// @ts-expect-error -- The package declares what the module exports; imported as a file it is a path.
import modulePath from '../../../../../node_modules/@cedar-policy/cedar-wasm/web/cedar_wasm_bg.wasm' with {
  type: 'file',
}
import { readEmbedded } from '../../../../platform/embedded.ts'

/** An instance of Cedar. It must not be used again after anything here has thrown. */
export interface Cedar {
  /** Splits a policy set, in the order of the ids: `policy0`, `policy1`, `policy10`. */
  parts(text: string): PolicySetTextToPartsAnswer
  policyToJson(policy: string): PolicyToJsonAnswer
  /** Parses policies and caches them under a name, replacing earlier ones. */
  keep(name: string, policies: Record<string, string>): CheckParseAnswer
  ask(call: StatefulAuthorizationCall): AuthorizationAnswer
  /** Size of its memory in bytes, which never shrinks. */
  memory(): number
}

/** Exports of the module. A string is an address in its memory and a length. */
interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory
  __wbindgen_externrefs: WebAssembly.Table
  __wbindgen_start(): void
  __wbindgen_malloc(size: number, align: number): number
  __wbindgen_exn_store(index: number): void
  __externref_table_alloc(): number
  policySetTextToParts(at: number, length: number): PolicySetTextToPartsAnswer
  policyToJson(policy: string): PolicyToJsonAnswer
  preparsePolicySet(at: number, length: number, policies: object): CheckParseAnswer
  statefulIsAuthorized(call: object): AuthorizationAnswer
}

let compiled: WebAssembly.Module | undefined

/**
 * Takes a tenth of a second the first time, then a few milliseconds. The package's own bindings
 * allow one instance per process, and so no recovery from a panic; this is the part that is needed.
 */
export function startCedar(): Cedar {
  compiled ??= new WebAssembly.Module(readEmbedded(modulePath as string))
  const wasm = instantiate(compiled)
  return {
    parts: (text) => wasm.policySetTextToParts(...put(wasm, text)),
    policyToJson: (policy) => wasm.policyToJson(policy),
    keep: (name, policies) =>
      wasm.preparsePolicySet(...put(wasm, name), { staticPolicies: policies }),
    ask: (call) => wasm.statefulIsAuthorized(call),
    memory: () => wasm.memory.buffer.byteLength,
  }
}

function instantiate(module: WebAssembly.Module): Exports {
  const host = hostOf(() => wasm)
  const imports = WebAssembly.Module.imports(module).map(
    ({ name }) => [name, host[withoutHash(name)] ?? missing(name)] as const,
  )
  const instance = new WebAssembly.Instance(module, {
    './cedar_wasm_bg.js': Object.fromEntries(imports),
  })
  const wasm = instance.exports as Exports
  wasm.__wbindgen_start()
  return wasm
}

/** `__wbg_parse_545d11396395fbbd` is `parse`. */
const withoutHash = (name: string) => name.replace(/^__wbg_(.+)_[0-9a-f]{16}$/, '$1')

function missing(name: string): never {
  throw new Error(`this version of Cedar needs ${name}, which cedar.ts does not have`)
}

/** The imports of the module: JSON of values, and a way to throw. */
function hostOf(exports: () => Exports): Record<string, WebAssembly.ImportValue> {
  /** Stores an error in the module's table, where it looks for exceptions. */
  const caught = <A extends unknown[], R>(work: (...args: A) => R) => {
    return (...args: A): R | undefined => {
      try {
        return work(...args)
      } catch (error) {
        const wasm = exports()
        const index = wasm.__externref_table_alloc()
        wasm.__wbindgen_externrefs.set(index, error)
        wasm.__wbindgen_exn_store(index)
        return undefined
      }
    }
  }
  return {
    parse: caught((at: number, length: number) => JSON.parse(take(exports(), at, length))),
    stringify: caught((value: unknown) => JSON.stringify(value)),
    __wbindgen_is_undefined: (value: unknown) => value === undefined,
    __wbindgen_throw: (at: number, length: number) => {
      throw new Error(take(exports(), at, length))
    },
    __wbindgen_string_get: (out: number, value: unknown) => {
      const wasm = exports()
      const [at, length] = typeof value === 'string' ? put(wasm, value) : [0, 0]
      const view = new DataView(wasm.memory.buffer)
      view.setInt32(out, at, true)
      view.setInt32(out + 4, length, true)
    },
    __wbindgen_init_externref_table: () => fillTable(exports().__wbindgen_externrefs),
  }
}

/** The module expects these four at fixed positions after its own entries. */
function fillTable(table: WebAssembly.Table) {
  const first = table.grow(4)
  table.set(0, undefined)
  ;[undefined, null, true, false].forEach((value, index) => {
    table.set(first + index, value)
  })
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

/** Copies a text into the module's memory; the callee frees it. */
function put(wasm: Exports, text: string): [at: number, length: number] {
  const bytes = encoder.encode(text)
  const at = wasm.__wbindgen_malloc(bytes.length, 1) >>> 0
  new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes)
  return [at, bytes.length]
}

const take = (wasm: Exports, at: number, length: number): string =>
  decoder.decode(new Uint8Array(wasm.memory.buffer, at >>> 0, length))
