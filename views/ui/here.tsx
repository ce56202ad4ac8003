import { createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import type { Fields } from '../../src/http/body.ts'
import type { Query } from './url.ts'

export interface FormError {
  /** Name of the field; undefined for an error of the whole form. */
  name?: string
  message: string
  /** Position within the field's text, and the message without it. */
  at?: { line: number; column: number; message: string } | undefined
  /** The entry of `[outbound] allow` that permits the refused target. */
  allow?: string | undefined
}

/** A form that was refused: its action, fields and errors. */
export interface Submission {
  action: string
  values: Fields
  errors: readonly FormError[]
}

/** The page that a component is rendered on. */
export interface Here {
  /** Address of a page of the same tenant and environment, such as `/jobs/new`. */
  href: (path: string, query?: Query) => string
  /** Address of an action of this page. */
  actionHref: (action: string) => string
  now: number
  /** IANA time zone of all times on the page. */
  zone: string
  submission?: Submission | undefined
  /** Opens the live updates of the page. The layout puts it into the document. */
  liveSource?: VNode | undefined
}

export const HereContext = createContext<Here | undefined>(undefined)

/** Throws outside of a page. */
export function useHere(): Here {
  const here = useContext(HereContext)
  if (!here) throw new Error('this component belongs on a page')
  return here
}

export const useNow = () => useHere().now
