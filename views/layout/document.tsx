import type { ComponentChildren } from 'preact'
import { type ASSETS, assetHref } from '../assets.ts'
import { FontLinks } from '../font-links.tsx'
import type { Theme } from './model.ts'

/** htmx settings. console-layout.css styles the loading indicator. */
const HTMX_CONFIG = JSON.stringify({ includeIndicatorCSS: false })

/** Links replace the body without loading the page again. console.js leaves out forms that change something. */
const BOOST = { 'hx-boost:inherited': 'swap:outerSync, transition:true' }

/** HTML document of a console page. Nothing is inline: the content security policy forbids it. */
export function ConsoleDocument(page: {
  base: string
  title: string
  theme: Theme
  style: string
  /** Omits htmx, for pages without a session. */
  isPlain?: boolean
  /** Scripts of this page alone. */
  scripts?: readonly (keyof typeof ASSETS)[]
  /** Replaces the address of a form in the browser's history: going back would ask for it with GET. */
  address?: string | undefined
  children: ComponentChildren
}) {
  return (
    <html lang="en" data-theme={page.theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        {!page.isPlain && <meta name="htmx-config" content={HTMX_CONFIG} />}
        <title>{page.title}</title>
        <link rel="icon" href={assetHref(page.base, 'icon.svg')} type="image/svg+xml" />
        <FontLinks base={page.base} />
        <link rel="stylesheet" href={assetHref(page.base, 'gatehouse.css')} />
        <link rel="stylesheet" href={assetHref(page.base, 'console.css')} />
        {!page.isPlain && <script src={assetHref(page.base, 'htmx.js')} defer />}
        <script src={assetHref(page.base, 'console.js')} defer />
        {page.scripts?.map((name) => (
          <script src={assetHref(page.base, name)} type="module" />
        ))}
      </head>
      <body class={page.style} data-address={page.address} {...(!page.isPlain && BOOST)}>
        {page.children}
      </body>
    </html>
  )
}
