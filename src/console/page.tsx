import type { FunctionComponent, VNode } from 'preact'
import type { Crumb } from '../../views/layout/model.ts'
import type { PageKey } from '../../views/layout/navigation.ts'
import type { Flash } from '../../views/layout/toast.tsx'
import { type Here, type Submission, useHere } from '../../views/ui/here.tsx'
import type { ListPosition } from '../../views/ui/pager.tsx'
import type { Query } from '../../views/ui/url.ts'
import type { Fields } from '../http/body.ts'
import type { Caller } from '../platform/caller.ts'
import type { Engine, Environment } from '../platform/engines.ts'
import type { Place } from './addresses.ts'
import type { FormFields } from './form.ts'
import type { OperatorContext, TenantContext } from './middleware.ts'
import type { Operator } from './operators/current-operator.ts'
import type { Device } from './operators/entry.ts'
import type { Access, Right } from './operators/rights.ts'
import type { Services } from './services.ts'

/** Names of the parameters in a path: `id` and `part` in `/users/:id/sessions/:part`. */
type ParamIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** A request to a page, with everything that the page reads or changes. */
export interface OperatorPageContext<Path extends string = string>
  extends OperatorContext,
    Services {
  request: Request
  params: Record<ParamIn<Path>, string>
  /** Parameters of the query string, trimmed. */
  query: Record<string, string | undefined>
  /** Position in the list. */
  position: ListPosition
  /** Fields of the submitted form. */
  fields: Fields
  now: number
  /** IANA time zone of the page's tenant; UTC without one. */
  zone: string
  place: Place
  /** Address of a page of the same tenant and environment. */
  href: (path: string, query?: Query) => string
  /** Address of a page of the same tenant in an environment. */
  hrefIn: (environment: Environment, path: string, query?: Query) => string
  /** Runs an expensive query at most every 5 seconds while the open page updates. */
  rarely: <T>(read: () => T) => T
  submission?: Submission | undefined
  liveSource?: VNode | undefined
  /** Result of an action that shows the page again. */
  result?: unknown
}

/** A request to a page of a tenant. */
export interface PageContext<Path extends string = string> extends OperatorPageContext<Path> {
  environment: Environment
  tenant: TenantContext['tenant']
  tenantId: string
  may: (right: Right) => boolean
  caller: (engine: Engine, environment?: Environment) => Caller
}

/** A request to a page that needs no session. */
export interface AnyonePageContext<Path extends string = string>
  extends Omit<OperatorPageContext<Path>, 'operator' | 'actor'> {
  /** The signed-in operator, if any. */
  operator: Operator | undefined
  device: Device
}

type ContextOf<Path extends string, For extends Access> = For extends Right
  ? PageContext<Path>
  : For extends 'anyone'
    ? AnyonePageContext<Path>
    : OperatorPageContext<Path>

/** What follows an action: by default, the page of the action with its message. */
export interface Outcome {
  /** Path of another page to show, with its query. */
  to?: string
  query?: Query
  /** Address of a page outside the console. */
  away?: string
  /** Set on the way to another page. */
  cookies?: readonly string[]
  /** Name of the message, for an action with several. */
  flash?: string
  /** A page in response to the form, for secrets that are not stored. */
  shown?: { title: string; page: VNode }
  /** The tenant of the page no longer exists: shows the page in the operator's next one. */
  isTenantGone?: true
  /** A file in response to the form. */
  file?: Response
  /** The page again, with the values of the form and the result of the action. */
  again?: true
  result?: unknown
  /** With `again`: a message, and the fields to show instead of those of the form. */
  report?: Flash
  values?: Fields
}

// biome-ignore lint/suspicious/noConfusingVoidType: most actions await a change that returns nothing
type Result = Outcome | void

export interface Action<Path extends string, For extends Access = Right> {
  right: Access
  flash?: Flash | Readonly<Record<string, Flash>>
  /** The fields of its form, by API field. Without them, an error is shown as a message. */
  form?: FormFields | ((context: ContextOf<Path, For>) => FormFields)
  run: (context: ContextOf<Path, For>) => Result | Promise<Result>
}

/** A part of a page that updates while it is open, by the ID of its element. */
export interface LivePart {
  /** All data that it depends on except the time: it is rendered again when this changes. */
  facts: unknown
  view: VNode
}

interface PageSpec<Path extends string, For extends Access, Data, Names extends string> {
  /** Below the tenant and environment, the installation, or the console: `/jobs/:id`. */
  path: Path
  /** Its entry in the sidebar, if it has one. */
  section?: PageKey
  /** Its view is the whole document, without navigation. */
  isPlain?: true
  /** Its address is its path, outside of `/console`. */
  isOutside?: true
  /** Shows data of one environment, which is in its address. */
  hasEnvironments?: true
  /** Who may open the page. */
  right: For
  title: string | ((data: Data) => string)
  /** Pages between its section and this page. */
  above?: (data: Data, context: ContextOf<Path, For>) => readonly Crumb[]
  load: (context: ContextOf<Path, For>) => Data | Promise<Data>
  /** 200 unless given, or unless a form was refused. */
  status?: (data: Data) => number
  view: FunctionComponent<Data>
  /** Messages that other pages lead to, by name: `/account?done=account.left` shows `left`. */
  messages?: Readonly<Record<string, Flash>>
  /** Forms of the page, by the rest of their address: `pause`, or '' for the address of the page. */
  actions?: { readonly [Name in Names]: Action<`${Path}/${Name}`, For> }
  /** Parts that update while the page is open; undefined for a page that doesn't. */
  live?: (data: Data) => Record<string, LivePart> | undefined
  /** Downloads, by the rest of their address. The page's right opens them. */
  files?: Readonly<Record<string, (context: ContextOf<Path, For>) => Response>>
}

// biome-ignore lint/suspicious/noExplicitAny: pages of all kinds of data are in one list
export type Page = PageSpec<any, any, any, any>

/** Declares a page, with `load` before the functions of its data. It exists once pages/index.ts lists it. */
export const page = <
  const Path extends string,
  const For extends Access,
  Data extends object,
  const Names extends string,
>(
  spec: PageSpec<Path, For, Data, Names>,
): Page => spec

/** The request that the current page is rendered for. */
export const usePage = () => useHere() as PageContext & Here

/** An outcome: a page in response to the form. */
export const shown = (title: string, page: VNode) => ({ shown: { title, page } })

export const good = (text: string): Flash => ({ tone: 'good', text })
export const warn = (text: string): Flash => ({ tone: 'warn', text })
