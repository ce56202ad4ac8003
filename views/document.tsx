import type { ComponentChildren } from 'preact'
import { accentPath } from '../src/platform/branding/addresses.ts'
import { assetHref } from './assets.ts'
import { FontLinks } from './font-links.tsx'

/** A page outside the console, in the user's language and hidden from search engines. */
export const Document = (page: {
  language: string
  title: string
  /** The page's style sheet, in addition to the common one, and the class of its body. */
  styles: { sheet: string; style: string }
  /** The color of its buttons and links; otherwise that of Gatehouse. */
  accent?: string | null
  children: ComponentChildren
}) => (
  <html lang={page.language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <title>{page.title}</title>
      <link rel="icon" href={assetHref('', 'icon.svg')} type="image/svg+xml" />
      <FontLinks base="" />
      <link rel="stylesheet" href={assetHref('', 'gatehouse.css')} />
      <link rel="stylesheet" href={assetHref('', page.styles.sheet)} />
      {page.accent && <link rel="stylesheet" href={accentPath(page.accent)} />}
    </head>
    <body class={page.accent ? `${page.styles.style} branded` : page.styles.style}>
      {page.children}
    </body>
  </html>
)
