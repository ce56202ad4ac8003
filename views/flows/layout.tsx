import type { ComponentChildren } from 'preact'
import type { Language } from '../../src/engines/gate/sign-in/model.ts'
import { Document } from '../document.tsx'

/** A page for users of a tenant, with a single card. */
export const Layout = (page: {
  language: Language
  title: string
  /** For pages with several forms. */
  isWide?: boolean
  children: ComponentChildren
}) => (
  <Document
    language={page.language}
    title={page.title}
    styles={{ sheet: 'flows.css', style: page.isWide ? 'flow wide' : 'flow' }}
  >
    {page.children}
  </Document>
)
