import type { ComponentChildren } from 'preact'
import type { Language } from '../../src/engines/gate/model/flows.ts'

/** A page for a tenant's people: one card, in their language, kept out of search engines. */
export const Frame = (page: {
  language: Language
  title: string
  /** For pages with several forms. */
  isWide?: boolean
  children: ComponentChildren
}) => (
  <html lang={page.language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <title>{page.title}</title>
      <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="/assets/gatehouse.css" />
      <link rel="stylesheet" href="/assets/flows.css" />
    </head>
    <body class={page.isWide ? 'flow wide' : 'flow'}>{page.children}</body>
  </html>
)
