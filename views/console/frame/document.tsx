import type { ComponentChildren } from 'preact'
import { useScopeHeader } from '../scope.tsx'
import { url } from '../url.ts'
import type { Theme } from './model.ts'

/** What htmx is told: how a request looks is left to console.css. */
const HTMX_CONFIG = JSON.stringify({ includeIndicatorCSS: false })

/** The document of a console page. Nothing in it is inline: the policy allows none. */
export function ConsoleDocument(page: {
  base: string
  title: string
  theme: Theme
  look: string
  /** Pages without a session have nothing to swap. */
  isPlain?: boolean
  children: ComponentChildren
}) {
  const scopeHeader = useScopeHeader()
  return (
    <html lang="en" data-theme={page.theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        {!page.isPlain && <meta name="htmx-config" content={HTMX_CONFIG} />}
        <title>{page.title}</title>
        <link rel="icon" href={url(page.base, '/assets/icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={url(page.base, '/assets/gatehouse.css')} />
        <link rel="stylesheet" href={url(page.base, '/assets/console.css')} />
        {!page.isPlain && <script src={url(page.base, '/assets/htmx.js')} defer />}
        <script src={url(page.base, '/assets/console.js')} defer />
      </head>
      <body class={page.look} {...scopeHeader}>
        {page.children}
      </body>
    </html>
  )
}
